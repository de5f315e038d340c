import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AhpClient, type ClientState } from './client.ts';
import { REQUEST_TIME } from './connection.ts';
import { Lost, Refusal, RpcError, Timeout } from './errors.ts';
import { FakeSocket } from './testing/socket.ts';
import { ROOT } from './types.ts';

const OTHER = 'ahp-other:/1';

describe('AhpClient', () => {
  let sockets: FakeSocket[];
  let identify: () => Promise<string | undefined>;
  let told: unknown[];
  let states: ClientState[];
  let client: AhpClient;

  const socket = () => sockets.at(-1)!;
  /** Lets promises settle and `ms` of time pass. */
  const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
  const snapshot = (resource: string, fromSeq: number, state: unknown = {}) => ({ resource, fromSeq, state });
  const action = (channel: string, serverSeq: number, more = {}) => ({
    method: 'action',
    params: { channel, serverSeq, action: { type: 'a', n: serverSeq }, ...more },
  });
  const initialized = (serverSeq: number) => ({
    result: { protocolVersion: '1.0.0', serverSeq, snapshots: [snapshot(ROOT, serverSeq), snapshot(OTHER, serverSeq)] },
  });
  const start = () => {
    socket().open();
    socket().reply('initialize', initialized(10));
  };
  /** Loses the connection, and opens the next. */
  const lose = async (code = 1006) => {
    const before = sockets.length;
    socket().end(code);
    while (sockets.length === before) await pass(10);
    socket().open();
  };

  beforeEach(() => {
    vi.useFakeTimers();
    sockets = [];
    told = [];
    states = [];
    identify = () => Promise.resolve('login-1');
    client = new AhpClient(
      {
        identify: () => identify(),
        open: () => {
          sockets.push(new FakeSocket());
          return socket().asWebSocket;
        },
      },
      {
        state: (state) => states.push(state),
        snapshot: ({ resource, fromSeq }) => told.push(`${resource}=${fromSeq}`),
        action: (channel, { n }) => told.push(`${channel}+${String(n)}`),
        missing: (channel) => told.push(`${channel}?`),
      },
      [ROOT, OTHER],
      'login-1',
    );
  });
  afterEach(() => {
    client.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  test('subscribes with the first message, and takes the snapshots before what follows', () => {
    socket().open();
    expect(socket().sent).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { channel: ROOT, protocolVersions: ['1.0.0'], clientId: 'login-1', initialSubscriptions: [ROOT, OTHER] },
      },
    ]);
    socket().reply('initialize', initialized(10));
    socket().tell(action(ROOT, 11)); // in the same breath
    expect(told).toEqual([`${ROOT}=10`, `${OTHER}=10`, `${ROOT}+11`]);
    expect(states).toEqual(['live']);
  });

  test('takes each action once and only from channels it has', () => {
    start();
    told = [];
    for (const message of [action(ROOT, 10), action(OTHER, 12), action(OTHER, 12), action(ROOT, 13), action('ahp-x:/', 14)]) socket().tell(message);
    expect(told).toEqual([`${OTHER}+12`, `${ROOT}+13`]);
  });

  test('asks for what it missed, which comes before what follows', async () => {
    start();
    socket().tell(action(OTHER, 12));
    told = [];
    await lose();
    expect(socket().sent[0]).toMatchObject({
      method: 'reconnect',
      params: { channel: ROOT, clientId: 'login-1', lastSeenServerSeq: 12, subscriptions: [ROOT, OTHER] },
    });
    const actions = [action(ROOT, 13).params, action(OTHER, 12).params, action(OTHER, 14).params, 'rubbish'];
    socket().reply('reconnect', { result: { type: 'replay', actions, missing: [] } });
    socket().tell(action(ROOT, 15));
    expect(told).toEqual([`${ROOT}+13`, `${OTHER}+14`, `${ROOT}+15`]);
    expect(states).toEqual(['live', 'waiting', 'live']);
  });

  test('takes snapshots where there is no replay; a channel without one is missing', async () => {
    start();
    told = [];
    await lose();
    socket().reply('reconnect', { result: { type: 'snapshot', snapshots: [snapshot(ROOT, 40)] } });
    expect(told).toEqual([`${ROOT}=40`, `${OTHER}?`]);
    socket().tell(action(OTHER, 41));
    expect(told).toHaveLength(2);
    await lose(); // what is missing has no state to build on
    expect(socket().sent[0]!.method).toBe('initialize');
  });

  test('a channel that the host misses is told, and had afresh the next time', async () => {
    start();
    told = [];
    await lose();
    socket().reply('reconnect', { result: { type: 'replay', actions: [], missing: [OTHER, 'ahp-x:/'] } });
    expect(told).toEqual([`${OTHER}?`]);
    await lose();
    expect(socket().sent[0]!.method).toBe('initialize');
  });

  test('initializes on the same socket when the host does not know it, also with lower numbers', async () => {
    start();
    await lose();
    told = [];
    socket().reply('reconnect', { error: { code: -32008, message: 'unknown client' } });
    socket().reply('initialize', initialized(3));
    socket().tell(action(ROOT, 4));
    expect(told).toEqual([`${ROOT}=3`, `${OTHER}=3`, `${ROOT}+4`]);
    expect(sockets).toHaveLength(2);
    await lose();
    expect(socket().sent[0]).toMatchObject({ params: { lastSeenServerSeq: 4 } });
  });

  test.each([
    ['reconnect', { type: 'replay' }],
    ['reconnect', { type: 'other' }],
    ['reconnect', null],
    ['initialize', { serverSeq: 'x', snapshots: [] }],
    ['initialize', null],
  ])('does not live on the %s result %o', async (method, result) => {
    if (method === 'reconnect') {
      start();
      await lose();
      states = [];
    } else {
      socket().open();
    }
    socket().reply(method, { result });
    expect(states).not.toContain('live');
    expect(socket().state).toBe('closed');
    await pass(15_000);
    socket().open();
    expect(socket().sent[0]!.method).toBe('initialize');
  });

  test('a host that refuses both is left and asked again', async () => {
    start();
    await lose();
    socket().reply('reconnect', { error: { code: -32008, message: 'unknown client' } });
    socket().reply('initialize', { error: { code: -32005, message: 'no version in common' } });
    expect(socket().state).toBe('closed');
    const before = sockets.length;
    await pass(15_000);
    expect(sockets.length).toBeGreaterThan(before);
  });

  test('a socket that does not open, or a host that says nothing, is tried again with growing waits', async () => {
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      const before = sockets.length;
      const from = performance.now();
      if (i % 2 === 1) socket().open();
      while (sockets.length === before) await pass(10);
      waits.push(performance.now() - from - 10_000);
    }
    for (const [i, longest] of [250, 500, 1_000, 2_000].entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(longest / 2);
      expect(waits[i]).toBeLessThanOrEqual(longest + 20);
    }
  });

  test('without a login it waits for one, and asks for it again when it still is not there', async () => {
    start();
    identify = () => Promise.resolve(undefined);
    socket().end(1006);
    await pass(15_000);
    expect(states).toEqual(['live', 'waiting', 'login']);
    client.nudge();
    await pass();
    expect(states.at(-1)).toBe('login');
    expect(states).toHaveLength(4);
    expect(sockets).toHaveLength(1);
    await pass(60_000);
    expect(sockets).toHaveLength(1);
  });

  test('the next login is another client, which starts afresh', async () => {
    start();
    socket().end(4401);
    expect(states.at(-1)).toBe('login');
    identify = () => Promise.resolve('login-2');
    client.nudge();
    await pass();
    socket().open();
    expect(socket().sent[0]).toMatchObject({ method: 'initialize', params: { clientId: 'login-2' } });
    expect(client.clientId).toBe('login-2');
  });

  test('a server that goes away or cannot be reached is asked again', async () => {
    start();
    identify = () => Promise.reject(new Error('unreachable'));
    socket().end(1001);
    await pass(60_000);
    expect(states).toEqual(['live', 'waiting']);
    identify = () => Promise.resolve('login-1');
    client.nudge(); // the network is back
    await pass();
    expect(sockets).toHaveLength(2);
  });

  test('a dead connection is noticed, on a nudge or by itself; any message proves life', async () => {
    start();
    client.nudge();
    expect(socket().last('ping')).toBeDefined();
    await pass(3_000);
    socket().raw('whatever');
    await pass(3_000);
    expect(states).toEqual(['live']);
    await pass(17_000); // the next ping
    await pass(4_000);
    expect(states).toEqual(['live', 'waiting']);
  });

  test('requests are answered, refused, or lost with the connection; never sent later', async () => {
    await expect(client.request('early', {})).rejects.toBeInstanceOf(Lost);
    start();
    const done = client.request('one', {});
    socket().reply('one', { result: null });
    expect(await done).toBeNull();
    const failed = client.request('two', {});
    socket().reply('two', { error: { code: -32603, message: 'full' } });
    await expect(failed).rejects.toThrow(new RpcError(-32603, 'full', undefined));
    const lost = client.request('three', {});
    socket().end();
    await expect(lost).rejects.toBeInstanceOf(Lost);
    await expect(client.request('four', {})).rejects.toBeInstanceOf(Lost);
    await pass(15_000);
    socket().open();
    socket().reply('reconnect', { result: { type: 'replay', actions: [], missing: [] } });
    expect(socket().sent.map(({ method }) => method)).toEqual(['reconnect']);
  });

  describe('dispatch', () => {
    const titled = { type: 'terminal/titleChanged', title: 'x' } as const;
    const dispatched = () => socket().last('dispatchAction')!.params as { clientSeq: number };

    test('is done once the host has answered what was asked behind it', async () => {
      start();
      let done = false;
      const dispatch = client.dispatch('ahp-terminal:/1', titled).then(() => (done = true));
      expect(socket().last('dispatchAction')!.params).toEqual({ channel: 'ahp-terminal:/1', clientSeq: expect.any(Number) as number, action: titled });
      await pass();
      expect(done).toBe(false);
      socket().reply('ping', { result: null });
      await dispatch;
    });

    test('is rejected with the reason, and changes nothing', async () => {
      start();
      told = [];
      const dispatch = client.dispatch(OTHER, titled);
      const origin = { clientId: 'login-1', clientSeq: dispatched().clientSeq };
      socket().tell(action(OTHER, 11, { origin: { ...origin, clientId: 'login-2' }, rejectionReason: 'not ours' }));
      socket().tell(action(OTHER, 12, { origin: { ...origin, clientSeq: 1 }, rejectionReason: 'another one' }));
      socket().tell(action(OTHER, 13, { origin, rejectionReason: 'the person is typing' }));
      socket().reply('ping', { result: null });
      await expect(dispatch).rejects.toThrow(new Refusal('the person is typing'));
      expect(told).toEqual([]);
    });

    test('without a connection, or without an answer, it is not known to be done', async () => {
      await expect(client.dispatch(OTHER, titled)).rejects.toBeInstanceOf(Lost);
      start();
      const slow = client.dispatch(OTHER, titled).catch((err: unknown) => err);
      for (let ms = 0; ms < REQUEST_TIME; ms += 1_000) {
        await pass(1_000);
        socket().raw('alive');
      }
      expect(await slow).toBeInstanceOf(Timeout);
      const lost = client.dispatch(OTHER, titled);
      socket().end();
      await expect(lost).rejects.toBeInstanceOf(Lost);
    });

    test('numbers rise, also when the clock does not', () => {
      start();
      const numbers = Array.from({ length: 2_000 }, () => {
        void client.dispatch(OTHER, titled).catch(() => undefined);
        return dispatched().clientSeq;
      });
      expect(numbers.every((n, i) => Number.isSafeInteger(n) && n > (numbers[i - 1] ?? 0))).toBe(true);
    });
  });
});
