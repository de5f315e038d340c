import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ACK_DELAY } from './acks.ts';
import { Lane, Refused, type LaneState } from './lane.ts';

/** The browser's end of a connection whose server is the test. */
class Socket {
  static readonly all: Socket[] = [];
  binaryType = '';
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly frames: Record<string, unknown>[] = [];
  input = '';
  open = true;

  constructor(readonly since: number | undefined) {
    Socket.all.push(this);
  }

  send(data: string | Uint8Array): void {
    if (!this.open) throw new Error('sent on a closed socket');
    if (typeof data === 'string') this.frames.push(JSON.parse(data) as Record<string, unknown>);
    else this.input += new TextDecoder().decode(data);
  }

  close(): void {
    this.open = false;
  }

  tell(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  output(text: string): void {
    this.onmessage?.({ data: new TextEncoder().encode(text).buffer });
  }

  /** The connection ends as seen from the browser. */
  end(code = 1006): void {
    this.open = false;
    this.onclose?.({ code });
  }

  sent(type: string): Record<string, unknown>[] {
    return this.frames.filter((frame) => frame['type'] === type);
  }
}

const ready = (offset: number) => ({ type: 'ready', offset, cols: 80, rows: 24, writable: true });
const encode = (text: string) => new TextEncoder().encode(text);

describe('Lane', () => {
  let calls: string[]; // what the screen was told, in order
  let told: string[]; // of commands
  let states: LaneState[];
  let refusals: number;
  let errors: string[];
  let denials: string[];
  let ticket: () => Promise<string>;
  let lane: Lane;

  /** Lets promises settle and `ms` of time pass. */
  const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
  const socket = () => Socket.all.at(-1)!;

  const start = async (visible = true) => {
    lane = new Lane(
      {
        write: (bytes, done) => {
          if (bytes.length > 0) calls.push(new TextDecoder().decode(bytes));
          done();
        },
        reset: () => calls.push('[reset]'),
        resize: (cols, rows) => calls.push(`[${cols}x${rows}]`),
        clear: () => calls.push('[clear]'),
        command: (frame) => calls.push(`[${'line' in frame ? 'start' : 'end'} ${frame.id}]`),
      },
      { ticket: () => ticket(), open: (_ticket, since) => new Socket(since) as unknown as WebSocket },
      {
        state: (state) => states.push(state),
        title: (title) => calls.push(`[title ${title}]`),
        writable: () => undefined,
        command: (frame, replayed) => told.push(`${frame.id}${replayed ? ' again' : ''}`),
        exit: (code) => calls.push(`[exit ${code}]`),
        error: (title) => errors.push(title),
        denied: (title) => denials.push(title),
        refused: () => refusals++,
        paste: () => undefined,
      },
      { visible },
    );
    await pass();
  };

  beforeEach(() => {
    vi.useFakeTimers();
    Socket.all.length = 0;
    calls = [];
    told = [];
    states = [];
    errors = [];
    denials = [];
    refusals = 0;
    ticket = () => Promise.resolve('ticket');
  });
  afterEach(() => {
    lane.close();
    vi.useRealTimers();
  });

  test('tells of commands between the output around them, and whether it is a replay', async () => {
    await start();
    socket().tell(ready(0));
    socket().tell({ type: 'reset', offset: 0, replay: true });
    socket().output('$ one\r\n');
    socket().tell({ type: 'command', id: 'c1', line: 'one', cwd: '/', started: '2026-01-02T03:04:05Z', offset: 7 });
    socket().output('1\r\n');
    socket().tell({ type: 'live', offset: 10 });
    socket().tell({ type: 'command', id: 'c1', exit_code: 0, duration_ms: 5, offset: 10 });
    socket().output('$ ');
    expect(calls).toEqual(['[80x24]', '[reset]', '$ one\r\n', '[start c1]', '1\r\n', '[end c1]', '$ ']);
    expect(told).toEqual(['c1 again', 'c1']);
  });

  test('takes the size before any output, then acknowledges and asks for its own', async () => {
    await start();
    lane.setSize(100, 30);
    socket().tell(ready(5));
    socket().output('$ ');
    expect(calls).toEqual(['[80x24]', '$ ']);
    expect(socket().frames.slice(0, 3)).toEqual([
      { type: 'ack', offset: 5 },
      { type: 'visible', visible: true },
      { type: 'resize', cols: 100, rows: 30 },
    ]);
    await pass(ACK_DELAY);
    expect(socket().sent('ack').at(-1)).toEqual({ type: 'ack', offset: 7 });
  });

  test('does not count the bytes of a replay', async () => {
    await start();
    socket().tell(ready(100));
    socket().tell({ type: 'reset', offset: 100, replay: true });
    socket().output('preamble');
    socket().tell({ type: 'live', offset: 100 });
    socket().output('log');
    expect(calls).toEqual(['[80x24]', '[reset]', 'preamble', 'log']);
    socket().end();
    await pass(250);
    expect(socket().since).toBe(103);
  });

  test('continues from its offset after a loss, and from the beginning the first time', async () => {
    await start();
    expect(socket().since).toBeUndefined();
    socket().tell(ready(10));
    socket().output('abc');
    socket().end();
    expect(states.at(-1)).toBe('waiting');
    await pass(250);
    expect(Socket.all).toHaveLength(2);
    expect(socket().since).toBe(13);
    socket().tell(ready(13));
    expect(states.at(-1)).toBe('live');
  });

  test('starts over when it was lost in the middle of a replay', async () => {
    await start();
    socket().tell(ready(10));
    socket().tell({ type: 'reset', offset: 10, replay: true });
    socket().output('half a pream');
    socket().end();
    await pass(250);
    expect(socket().since).toBeUndefined();
  });

  test('follows a reset of a viewer that was overtaken', async () => {
    await start();
    socket().tell(ready(0));
    socket().output('old');
    socket().tell({ type: 'reset', offset: 5000 });
    socket().output('new');
    await pass(ACK_DELAY);
    expect(socket().sent('ack').at(-1)).toEqual({ type: 'ack', offset: 5003 });
  });

  test('never sends input twice, and refuses it while there is no connection', async () => {
    await start();
    socket().tell(ready(0));
    lane.type(encode('one'));
    expect(socket().input).toBe('one');
    socket().end();
    lane.type(encode('two'));
    expect(refusals).toBe(1);
    await pass(250);
    socket().tell(ready(0));
    expect(socket().input).toBe('');
  });

  test('drops the rest of a paste with its connection, and says so', async () => {
    await start();
    socket().tell(ready(0));
    lane.paste(encode('x'.repeat(200_000)));
    socket().end();
    expect(refusals).toBe(1);
    await pass(250);
    socket().tell(ready(0));
    expect(socket().input).toBe('');
  });

  test('keeps what is typed before the first connection stands', async () => {
    await start();
    lane.type(encode('ls\r'));
    socket().tell(ready(0));
    expect(socket().input).toBe('ls\r');
    expect(refusals).toBe(0);
  });

  test('sends a piece of a paste again that found the queue full, and reports other errors', async () => {
    await start();
    socket().tell(ready(0));
    lane.paste(encode('text'));
    socket().tell({ type: 'error', title: 'the input queue is full', code: 'input_full' });
    socket().tell({ type: 'pong' });
    await pass(1_000);
    expect(socket().input).toBe('texttext');
    expect(errors).toEqual([]);
    socket().tell({ type: 'pong' });
    socket().tell({ type: 'error', title: 'the input queue is full', code: 'input_full' });
    expect(errors).toEqual(['the input queue is full']);
  });

  test('sends answers of the terminal as what they are, and only on a connection', async () => {
    await start();
    lane.answer('\x1b[1;1R');
    socket().tell(ready(0));
    lane.answer('\x1b[2;2R');
    expect(socket().sent('answer')).toEqual([{ type: 'answer', data: '\x1b[2;2R' }]);
    expect(socket().input).toBe('');
  });

  test.each(['refused', 'read_only'])('tells of %s input apart from other errors', async (code) => {
    await start();
    socket().tell(ready(0));
    socket().tell({ type: 'error', title: 'you may only read', code });
    expect(denials).toEqual(['you may only read']);
    expect(errors).toEqual([]);
  });

  test('waits for a login when the ticket or the socket says so, and goes on after a nudge', async () => {
    await start();
    socket().tell(ready(0));
    socket().end(4401);
    expect(states.at(-1)).toBe('login');
    await pass(60_000);
    expect(Socket.all).toHaveLength(1);
    ticket = () => Promise.reject(new Refused('login'));
    lane.nudge();
    await pass();
    expect(states.at(-1)).toBe('login');
    ticket = () => Promise.resolve('ticket');
    lane.nudge();
    await pass();
    expect(Socket.all).toHaveLength(2);
  });

  test.each([
    ['gone', 'the ticket', () => (ticket = () => Promise.reject(new Refused('gone')))],
    ['disposed', 'close code 1000', () => undefined],
  ])('is at its end (%s) by %s', async (state, _how, arrange) => {
    await start();
    socket().tell(ready(0));
    arrange();
    socket().end(state === 'disposed' ? 1000 : 1006);
    await pass(60_000);
    expect(states.at(-1)).toBe(state);
    expect(Socket.all).toHaveLength(1);
  });

  test.each([1001, 1006, 1008, 1009])('comes back after close code %i', async (code) => {
    await start();
    socket().tell(ready(0));
    socket().end(code);
    await pass(250);
    expect(Socket.all).toHaveLength(2);
  });

  test('waits longer after each failure, but comes at once when nudged', async () => {
    await start();
    ticket = () => Promise.reject(new TypeError('network'));
    socket().end();
    await pass(60_000);
    expect(Socket.all).toHaveLength(1);
    ticket = () => Promise.resolve('ticket');
    lane.nudge();
    await pass();
    expect(Socket.all).toHaveLength(2);
  });

  test('gives up a socket that never says ready', async () => {
    await start();
    await pass(11_000);
    expect(Socket.all.length).toBeGreaterThan(1);
    expect(Socket.all[0]!.open).toBe(false);
  });

  test('a nudge finds a dead connection, and any answer proves a live one', async () => {
    await start();
    socket().tell(ready(0));
    lane.nudge();
    expect(socket().sent('ping')).toHaveLength(1);
    socket().output('x');
    await pass(6_000);
    expect(Socket.all).toHaveLength(1);
    lane.nudge();
    await pass(6_000);
    expect(Socket.all.length).toBeGreaterThan(1);
  });

  test('a hidden viewer says that it is, and asks for no size until it is shown', async () => {
    await start(false);
    socket().tell(ready(0));
    expect(socket().sent('visible')).toEqual([{ type: 'visible', visible: false }]);
    lane.setVisible(true);
    lane.setSize(90, 20);
    expect(socket().sent('visible').at(-1)).toEqual({ type: 'visible', visible: true });
    expect(socket().sent('resize')).toEqual([{ type: 'resize', cols: 90, rows: 20 }]);
  });

  test('tells the exit after the output, and nothing more is typed', async () => {
    await start();
    socket().tell(ready(0));
    socket().output('bye');
    socket().tell({ type: 'exit', code: 3 });
    expect(calls.slice(-2)).toEqual(['bye', '[exit 3]']);
    socket().tell({ type: 'error', title: 'the program has exited', code: 'exited' });
    expect(errors).toEqual([]);
  });

  test('is silent after close', async () => {
    await start();
    const first = socket();
    first.tell(ready(0));
    lane.close();
    const before = states.length;
    first.tell({ type: 'title', title: 'late' });
    first.end();
    await pass(60_000);
    expect(states).toHaveLength(before);
    expect(Socket.all).toHaveLength(1);
  });
});
