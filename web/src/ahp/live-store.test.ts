import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Lost, Refusal, RpcError } from './errors.ts';
import { LiveStore, type Identity } from './live-store.ts';
import type { StoreEvents } from './store.ts';
import { FakeHost } from './testing/host.ts';

describe('LiveStore', () => {
  let host: FakeHost;
  let identity: Identity | undefined;
  let store: LiveStore;
  let told: string[];

  /** Lets promises settle and `ms` of time pass. */
  const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
  const listener: StoreEvents = {
    added: ({ id }) => told.push(`added ${id}`),
    removed: ({ id }, why) => told.push(`removed ${id} ${why}`),
    changed: (now, before) => {
      expect(now).not.toEqual(before);
      told.push(`changed ${now.id}`);
    },
    requests: (requests) => told.push(`requests ${requests.map(({ id }) => id).join()}`),
    paused: (paused) => told.push(`paused ${paused}`),
    connected: (connected) => told.push(`connected ${connected}`),
    needsLogin: () => told.push('needsLogin'),
  };
  const start = async () => {
    store = new LiveStore({ identify: () => Promise.resolve(identity), open: host.open }, identity!);
    store.listen(listener);
    await pass();
  };

  beforeEach(() => {
    vi.useFakeTimers();
    host = new FakeHost();
    identity = { clientId: 'login-1', boot: 'boot-1' };
    told = [];
  });
  afterEach(() => {
    store.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  test('tells what is there, in order, before it says that it is connected', async () => {
    host.add({ id: 'a', title: 'build' });
    host.add({ id: 'b', lifecycle: { status: 'exited', exitCode: 2 }, mode: 'private' });
    host.share({ paused: true, requests: [{ id: 'r1', resource: 'x', program: 'claude', created: '' }] });
    await start();
    expect(told).toEqual(['added a', 'added b', 'requests r1', 'paused true', 'connected true']);
    const [first, second] = [...store.terminals.values()];
    expect(first).toMatchObject({ title: 'build', exit: undefined, mode: 'watch', maker: { kind: 'program', name: 'claude' } });
    expect(second).toMatchObject({ exit: { code: 2 }, mode: 'private', claim: { kind: 'client', clientId: 'c1' } });
    expect([store.clientId, store.connected, store.paused, store.requests.length]).toEqual(['login-1', true, true, 1]);
  });

  test('names the device of a terminal that runs at one, by its holder', async () => {
    host.add({ id: 'a' });
    host.add({ id: 'b', executionTarget: 'client', holder: { kind: 'program', name: 'laptop', client: 'l1' } });
    host.add({ id: 'c', executionTarget: 'client', holder: { kind: 'person', name: '', client: 'l2' } });
    await start();
    expect([...store.terminals.values()].map(({ device }) => device)).toEqual([undefined, 'laptop', 'another device']);
  });

  test('tells only what changed', async () => {
    const a = host.add({ id: 'a' });
    host.add({ id: 'b' });
    await start();
    const [, b] = [...store.terminals.values()];
    told = [];
    host.change(a, { title: 'vim' });
    host.change(a, { watchers: [{ kind: 'person', name: 'Firefox', client: 'login-1' }] });
    host.change(a, { title: 'vim' });
    host.change(a, { lifecycle: { status: 'exited' } });
    host.share({ paused: false });
    expect(told).toEqual(['changed a', 'changed a', 'changed a']);
    expect(store.terminals.get(a)).toMatchObject({ title: 'vim', exit: { code: undefined } });
    expect([...store.terminals.values()][1]).toBe(b);
    host.remove(a);
    expect(told.at(-1)).toBe('removed a disposed');
  });

  test('a listener that is taken away hears no more', async () => {
    await start();
    const stop = store.listen({ added: () => told.push('heard') });
    stop();
    host.add({ id: 'a' });
    expect(told).toEqual(['connected true', 'added a']);
  });

  test('makes a terminal that this login holds', async () => {
    await start();
    told = [];
    const { resource, terminal } = store.create({ cwd: '/srv/a b/ü#?%', cols: 2_000, rows: 30 });
    expect(host.asked).toEqual([
      {
        method: 'createTerminal',
        params: { channel: resource, claim: { kind: 'client', clientId: 'login-1' }, cwd: 'file:///srv/a%20b/%C3%BC%23%3F%25', cols: 1_000, rows: 30 },
      },
    ]);
    expect(resource).toMatch(/^ahp-terminal:\/[0-9a-f]{32}$/);
    const made = await terminal;
    expect(made).toMatchObject({ resource, holder: { kind: 'person', client: 'login-1' }, mode: 'ask' });
    expect(made).toBe(store.terminals.get(resource));
    expect(told).toEqual([`added ${made.id}`]);
    expect(store.create({}).resource).not.toBe(resource);
    expect(host.asked[1]!.params).not.toHaveProperty('cwd');
  });

  test('says why there is no terminal', async () => {
    await start();
    host.refuse = 'ten terminals are open, the most there may be';
    await expect(store.create({}).terminal).rejects.toThrow(new RpcError(-32603, host.refuse, undefined));
    host.refuse = undefined;
    const { resource, terminal } = store.create({});
    host.remove(resource); // by somebody else, before the answer has come through
    await expect(terminal).rejects.toBeInstanceOf(Refusal);
  });

  test('what a person does is there when it is done', async () => {
    const a = host.add({ id: 'a', claim: { kind: 'session', session: 's' } });
    host.share({ requests: [{ id: 'r1', resource: a, program: 'claude', created: '' }] });
    await start();
    await store.rename(a, 'mine');
    expect(store.terminals.get(a)!.title).toBe('mine');
    await store.claim(a);
    expect(store.terminals.get(a)!.claim).toEqual({ kind: 'client', clientId: 'login-1' });
    expect(store.terminals.get(a)!.holder.client).toBe('login-1');
    await store.setMode(a, 'private');
    expect(store.terminals.get(a)!.mode).toBe('private');
    await store.setPaused(true);
    expect(store.paused).toBe(true);
    await store.answer('r1', 'always');
    expect(store.requests).toEqual([]);
    expect(host.asked.at(-1)!.params['action']).toEqual({ type: 'sharing/requestAnswered', request: 'r1', answer: 'always' });
    await store.dispose(a);
    expect(store.terminals.size).toBe(0);
  });

  test('what the host refuses comes with its reason', async () => {
    const a = host.add({ id: 'a' });
    await start();
    told = [];
    host.refuse = 'a password is asked for';
    for (const refused of [store.rename(a, 'x'), store.claim(a), store.setMode(a, 'share'), store.setPaused(true), store.answer('r', 'no')]) {
      await expect(refused).rejects.toThrow(new Refusal(host.refuse));
    }
    await expect(store.dispose(a)).rejects.toBeInstanceOf(RpcError);
    expect(told).toEqual([]);
  });

  test('shows the last state while the network is away, then only the difference', async () => {
    const a = host.add({ id: 'a' });
    host.add({ id: 'b' });
    await start();
    told = [];
    host.lose();
    expect(told).toEqual(['connected false']);
    expect(store.terminals.size).toBe(2);
    await expect(store.rename(a, 'x')).rejects.toBeInstanceOf(Lost);
    await expect(store.create({}).terminal).rejects.toBeInstanceOf(Lost);
    host.remove(a);
    host.add({ id: 'c' });
    store.nudge();
    await pass();
    expect(told).toEqual(['connected false', 'removed a disposed', 'added c', 'connected true']);
  });

  test('says when terminals went with the server', async () => {
    const a = host.add({ id: 'a' });
    await start();
    told = [];
    host.lose(1001);
    host.knows = false; // another host, without the terminal
    host.remove(a);
    host.add({ id: 'z' });
    identity = { clientId: 'login-1', boot: 'boot-2' };
    await pass(1_000);
    expect(told).toEqual(['connected false', 'removed a restarted', 'added z', 'connected true']);
    host.remove([...store.terminals.keys()][0]!);
    expect(told.at(-1)).toBe('removed z disposed');
  });

  test('asks for a login when it ended, and goes on under the next', async () => {
    const a = host.add({ id: 'a' });
    await start();
    told = [];
    identity = undefined;
    host.lose(4401);
    expect(told).toEqual(['connected false', 'needsLogin']);
    identity = { clientId: 'login-2', boot: 'boot-1' };
    store.nudge();
    await pass();
    expect(told).toEqual(['connected false', 'needsLogin', 'connected true']);
    await store.claim(a);
    expect(store.terminals.get(a)!.claim).toEqual({ kind: 'client', clientId: 'login-2' });
  });
});
