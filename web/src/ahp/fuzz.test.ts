import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LiveStore } from './live-store.ts';
import { FakeHost } from './testing/host.ts';
import { FakeSocket } from './testing/socket.ts';
import { ROOT, SHARING } from './types.ts';

// Random input from fixed seeds, so that a failure happens again.
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);

/** A small generator of numbers from 0 up to `below` (xorshift). */
function random(seed: number): (below: number) => number {
  let state = seed * 2654435761;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Every promise that a Store makes about what it shows. */
function check(store: LiveStore, frame: string): void {
  for (const [resource, terminal] of store.terminals) {
    expect(terminal.resource, frame).toBe(resource);
    const { id, title, created, maker, holder } = terminal;
    for (const text of [id, title, created, maker.name, holder.name, holder.client]) expect(typeof text, frame).toBe('string');
    expect(['private', 'watch', 'ask', 'share'], frame).toContain(terminal.mode);
    expect(['client', 'session'], frame).toContain(terminal.claim.kind);
    expect(terminal.exit === undefined || terminal.exit.code === undefined || Number.isInteger(terminal.exit.code), frame).toBe(true);
    for (const watcher of terminal.watchers) expect(typeof watcher.client, frame).toBe('string');
  }
  for (const request of store.requests) expect(typeof request.program, frame).toBe('string');
  expect(typeof store.paused, frame).toBe('boolean');
}

test.each(SEEDS)('frames that were tampered with are ignored or keep the promises of the state (seed %i)', async (seed) => {
  const next = random(seed);
  const host = new FakeHost();
  const store = new LiveStore({ identify: () => Promise.resolve({ clientId: 'c', boot: 'b' }), open: host.open }, { clientId: 'c', boot: 'b' });
  // Listeners that read everything, as the page's do.
  let told = 0;
  store.listen({ added: () => told++, removed: () => told++, changed: () => told++, requests: () => told++, paused: () => told++ });
  await vi.advanceTimersByTimeAsync(0);
  const socket = host.sockets[0]!;

  // Frames as the host sends them.
  const frames: string[] = [];
  const tell = socket.tell.bind(socket);
  socket.tell = (message) => {
    frames.push(JSON.stringify({ jsonrpc: '2.0', ...message }));
    tell(message);
  };
  const a = host.add({ watchers: [{ kind: 'person', name: 'n', client: 'x' }] });
  host.change(a, { lifecycle: { status: 'exited', exitCode: 3 }, claim: { kind: 'session', session: 's', chat: 'c' } });
  host.share({ requests: [{ id: 'r', resource: a, program: 'p', session: 's', created: 't' }] });
  host.refuse = 'no';
  await store.claim(a).catch(() => undefined);

  const bits = ['-', '1e9', 'null', '"', '{', '}', '[', ']', ',', ':', '0.5', '\\u0000', '"__proto__":', 'true', '9'.repeat(20), '', 'ahp-root://'];
  const asked = host.sockets.length;
  for (let i = 0; i < 1_500; i++) {
    let text = frames[next(frames.length)]!;
    // Later than all before, or the frame would be ignored for its number.
    text = text.replace(/"serverSeq":\d+/, `"serverSeq":${10_000 + i}`);
    for (let edits = 1 + next(3); edits > 0; edits--) {
      const at = next(text.length + 1);
      text = text.slice(0, at) + bits[next(bits.length)] + text.slice(at + next(6));
    }
    socket.raw(text);
    check(store, text);
  }
  expect(told).toBeGreaterThan(0);
  expect(({} as Record<string, unknown>)['id']).toBeUndefined();
  expect(host.sockets.length, 'the connection stands').toBe(asked);
  store.close();
});

test.each(SEEDS)('a host that answers anything at all breaks nothing (seed %i)', async (seed) => {
  const next = random(seed);
  const sockets: FakeSocket[] = [];
  const store = new LiveStore(
    {
      identify: () => Promise.resolve(next(8) === 0 ? undefined : { clientId: `c${next(2)}`, boot: `b${next(2)}` }),
      open: () => {
        const socket = new FakeSocket();
        sockets.push(socket);
        return socket.asWebSocket;
      },
    },
    { clientId: 'c0', boot: 'b0' },
  );
  const atoms = [null, true, 0, -1, 1.5, 7, 2 ** 53, '', ROOT, SHARING, 'replay', 'snapshot', 'ahp-terminal:/1', 'ask', 'person'];
  const names = ['type', 'snapshots', 'actions', 'missing', 'serverSeq', 'resource', 'state', 'fromSeq', 'terminals', 'channel', 'action', '__proto__'];
  const value = (depth: number): unknown => {
    const kind = depth === 0 ? 0 : next(4);
    if (kind === 0) return atoms[next(atoms.length)];
    if (kind === 1) return Array.from({ length: next(4) }, () => value(depth - 1));
    return Object.fromEntries(Array.from({ length: next(7) }, () => [names[next(names.length)]!, value(depth - 1)]));
  };
  for (let i = 0; i < 300; i++) {
    const socket = sockets.at(-1)!;
    switch (next(6)) {
      case 0:
        if (socket.state === 'opening') socket.open();
        break;
      case 1:
        if (socket.state === 'open' && next(3) === 0) socket.end([1000, 1001, 1006, 4401][next(4)]!);
        break;
      case 2:
        await vi.advanceTimersByTimeAsync(next(12_000));
        break;
      case 3:
        store.nudge();
        await vi.advanceTimersByTimeAsync(0);
        break;
      default:
        for (const { id, method } of socket.sent.slice(-2)) {
          if (socket.state !== 'open' || id === undefined) continue;
          // Sometimes what was asked for, so that there is a life to be disturbed.
          const good = { serverSeq: 5, type: 'snapshot', snapshots: [ROOT, SHARING].map((resource) => ({ resource, fromSeq: 5, state: value(2) })) };
          if (next(2) === 0 && method !== 'ping') socket.tell({ id, result: good });
          else socket.tell(next(3) === 0 ? { id, error: value(2) } : { id, result: value(4) });
        }
        if (socket.state === 'open') socket.tell({ method: 'action', params: value(4) });
    }
    check(store, `step ${i}`);
  }
  store.close();
  expect(sockets.filter(({ state }) => state !== 'closed')).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
