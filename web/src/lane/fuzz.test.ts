import { expect, test } from 'vitest';
import { parseFrame } from './frames.ts';
import { MAX_FRAME, splitInput } from './input.ts';

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

test.each(SEEDS)('a frame that was tampered with is ignored or keeps its promises (seed %i)', (seed) => {
  const next = random(seed);
  const frames = [
    '{"type":"ready","offset":7,"cols":80,"rows":24,"writable":true}',
    '{"type":"reset","offset":3,"replay":true}',
    '{"type":"resize","cols":120,"rows":40}',
    '{"type":"command","id":"c1","line":"make","cwd":"/","started":"2026-01-02T03:04:05Z"}',
    '{"type":"command","id":"c1","exit_code":2,"duration_ms":15}',
    '{"type":"exit","code":143,"signal":"SIGTERM"}',
    '{"type":"error","title":"full","code":"input_full"}',
  ];
  const bits = ['-', '1e9', 'null', '"', '{', '}', '[', ',', ':', '0.5', '\u0000', '\\u', 'true', '9'.repeat(20), ''];
  for (let i = 0; i < 2_000; i++) {
    let text = frames[next(frames.length)]!;
    for (let edits = 1 + next(3); edits > 0; edits--) {
      const at = next(text.length + 1);
      text = text.slice(0, at) + bits[next(bits.length)] + text.slice(at + next(4));
    }
    const frame = parseFrame(text);
    if (frame === undefined) continue;
    if ('offset' in frame) expect(Number.isSafeInteger(frame.offset) && frame.offset >= 0, text).toBe(true);
    if ('cols' in frame) expect(frame.cols >= 1 && frame.cols <= 65_535 && Number.isInteger(frame.cols), text).toBe(true);
    if ('started' in frame) expect(Number.isFinite(frame.started) && frame.id !== '', text).toBe(true);
    if ('duration' in frame) expect(frame.duration >= 0 && (frame.exitCode === undefined || Number.isInteger(frame.exitCode)), text).toBe(true);
    if ('title' in frame) expect(typeof frame.title, text).toBe('string');
  }
});

test.each(SEEDS)('input of any kind is cut without loss, and text never inside a character (seed %i)', (seed) => {
  const next = random(seed);
  const alphabet = ['a', 'é', '—', '“', '🦜', '\u200d', '\n'];
  let text = '';
  while (text.length < 120_000) text += alphabet[next(alphabet.length)]!.repeat(1 + next(50));
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  expect(splitInput(new TextEncoder().encode(text)).map((piece) => strict.decode(piece)).join('') === text).toBe(true);

  const bytes = Uint8Array.from({ length: 150_000 + next(100_000) }, () => next(256));
  const pieces = splitInput(bytes);
  expect(pieces.every((piece) => piece.length > 0 && piece.length <= MAX_FRAME)).toBe(true);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});
