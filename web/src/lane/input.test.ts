import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { InputQueue, MAX_FRAME, RETRY_FULL, splitInput, type PasteProgress } from './input.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (pieces: Uint8Array[]) => {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('');
};

/** A wire whose pongs come when the test says so. */
class Wire {
  readonly sent: Uint8Array[] = [];
  readonly answers: string[] = [];
  private readonly pongs: (() => void)[] = [];

  send(bytes: Uint8Array<ArrayBuffer>): void {
    this.sent.push(bytes.slice());
  }

  answer(text: string): void {
    this.answers.push(text);
  }

  ping(pong: () => void): void {
    this.pongs.push(pong);
  }

  /** Delivers the next pong; false if none is awaited. */
  pong(): boolean {
    const pong = this.pongs.shift();
    pong?.();
    return pong !== undefined;
  }
}

describe('splitInput', () => {
  test.each([1, 2, 3, 4])('cuts text of %i-byte characters between characters', (size) => {
    const text = 'x' + ['a', 'é', '—', '🦜'][size - 1]!.repeat(50_000);
    const pieces = splitInput(encode(text));
    const strict = new TextDecoder('utf-8', { fatal: true });
    expect(pieces.map((piece) => strict.decode(piece)).join('')).toBe(text);
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(MAX_FRAME);
  });

  test('loses nothing of bytes that are not UTF-8', () => {
    const bytes = new Uint8Array(3 * MAX_FRAME).fill(0x80);
    expect(splitInput(bytes).reduce((sum, piece) => sum + piece.length, 0)).toBe(bytes.length);
  });

  test('makes nothing of nothing', () => expect(splitInput(new Uint8Array())).toEqual([]));
});

describe('InputQueue', () => {
  let wire: Wire;
  let progress: (PasteProgress | undefined)[];
  let queue: InputQueue;

  beforeEach(() => {
    vi.useFakeTimers();
    wire = new Wire();
    progress = [];
    queue = new InputQueue(wire, (p) => progress.push(p));
  });
  afterEach(() => vi.useRealTimers());

  test('sends keys at once', () => {
    queue.type(encode('ls\r'));
    expect(decode(wire.sent)).toBe('ls\r');
  });

  test('sends the next piece of a paste only after the pong for the one before', () => {
    const text = 'line\r'.repeat(40_000);
    queue.paste(encode(text));
    expect(wire.sent).toHaveLength(1);
    while (wire.pong());
    expect(decode(wire.sent)).toBe(text);
    expect(progress.at(-2)).toEqual({ taken: text.length, total: text.length });
    expect(progress.at(-1)).toBeUndefined();
  });

  test('sends a refused piece again, and only that', () => {
    const text = 'a'.repeat(MAX_FRAME) + 'b'.repeat(MAX_FRAME);
    queue.paste(encode(text));
    wire.pong();
    expect(queue.full()).toBe(true); // the second piece found no room
    wire.pong();
    expect(wire.sent).toHaveLength(2);
    vi.advanceTimersByTime(RETRY_FULL);
    expect(wire.sent).toHaveLength(3);
    expect(decode([wire.sent[2]!])).toBe('b'.repeat(MAX_FRAME));
    wire.pong();
    expect(progress.at(-1)).toBeUndefined();
  });

  test('a key stops a paste, and closes its bracket first', () => {
    queue.paste(encode(`\x1b[200~${'x'.repeat(3 * MAX_FRAME)}\x1b[201~`));
    queue.paste(encode('another'));
    queue.type(encode('\x03'));
    while (wire.pong());
    vi.runAllTimers();
    expect(wire.sent).toHaveLength(3);
    expect(decode(wire.sent.slice(1))).toBe('\x1b[201~\x03');
    expect(progress).toEqual([undefined]);
  });

  test('a key that stops a plain paste goes alone', () => {
    queue.paste(encode('x'.repeat(2 * MAX_FRAME)));
    queue.type(encode('\x03'));
    while (wire.pong());
    expect(decode(wire.sent.slice(1))).toBe('\x03');
  });

  test('pastes follow one another', () => {
    queue.paste(encode('one '));
    queue.paste(encode('two'));
    while (wire.pong());
    expect(decode(wire.sent)).toBe('one two');
  });

  test('an answer of the terminal waits for the end of a paste', () => {
    queue.paste(encode('x'.repeat(MAX_FRAME + 1)));
    queue.answer('\x1b[0n');
    queue.answer(Uint8Array.of(0x1b, 0x5b, 0x4d, 0x20, 0xff, 0x21)); // a click in column 223
    expect(wire.sent).toHaveLength(1);
    expect(wire.answers).toEqual([]);
    while (wire.pong());
    expect(wire.answers).toEqual(['\x1b[0n']);
    expect(wire.sent.slice(1)).toEqual([encode('x'), Uint8Array.of(0x1b, 0x5b, 0x4d, 0x20, 0xff, 0x21)]);
    queue.answer('\x1b[I');
    expect(wire.answers).toHaveLength(2);
  });

  test('a full queue is not its business when nothing is being pasted', () => {
    queue.type(encode('x'));
    expect(queue.full()).toBe(false);
  });

  test('close tells how much was not taken, and sends nothing after it', () => {
    queue.paste(encode('x'.repeat(MAX_FRAME + 5)));
    wire.pong();
    expect(queue.close()).toBe(5);
    while (wire.pong());
    vi.runAllTimers();
    expect(wire.sent).toHaveLength(2);
  });
});
