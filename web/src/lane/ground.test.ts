import xterm from '@xterm/headless';
import { expect, test } from 'vitest';
import { Ground } from './ground.ts';

const encode = (text: string) => new TextEncoder().encode(text);

/** Returns whether xterm.js is outside of any sequence after `chunks`. */
async function xtermIsInGround(terminal: xterm.Terminal): Promise<boolean> {
  await new Promise<void>((done) => terminal.write('', done));
  const core = (terminal as unknown as { _core: { _inputHandler: { _parser: { currentState: number } } } })._core;
  return core._inputHandler._parser.currentState === 0;
}

test.each([
  ['text', 'plain — “text” é 漢字\r\n'],
  ['a colour', '\x1b[38;5;12mx'],
  ['a title ended by BEL', '\x1b]2;title\x07'],
  ['a title ended by ST', '\x1b]2;title\x1b\\'],
  ['a character set', '\x1b(B'],
  ['a device string', '\x1bP1$r0m\x1b\\'],
  ['an eight-bit control', '\u009b31m'],
  ['a cancelled sequence', '\x1b[31\x18'],
])('%s ends in ground', (_, text) => {
  expect(new Ground().after(encode(text))).toBe(true);
});

test.each([
  ['ESC', '\x1b'],
  ['a control sequence', 'text\x1b[38;5'],
  ['a character set', '\x1b('],
  ['a title', '\x1b]2;titl'],
  ['a title and half of ST', '\x1b]2;title\x1b'],
  ['a device string with BEL', '\x1bPq\x07'],
  ['a private message with BEL', '\x1b^x\x07'],
  ['an eight-bit control', '\u009b3'],
])('inside %s is not ground', (_, text) => {
  expect(new Ground().after(encode(text))).toBe(false);
});

test('a reset forgets what was unfinished', () => {
  const ground = new Ground();
  ground.after(encode('\x1b['));
  ground.reset();
  expect(ground.after(encode('text'))).toBe(true);
});

// Random pieces from fixed seeds: where Ground says yes, xterm.js must be in ground as well. It may say no too often.
test.each([1, 2, 3, 4, 5, 6])('never says yes inside a sequence of xterm.js (seed %i)', async (seed) => {
  const parts = ['a', 'é', '—', '\u0085', '\u0090', '\u009b', '\u009c', '\u009d', '\x1b', '[', ']', 'P', '^', '(', '\\', ';', '3', 'm', '?', '$', ' ', '\x07', '\x18', '\x1a', '\x7f', '\n', 'X', '_'];
  let state = seed * 2654435761;
  const next = (below: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const terminal = new xterm.Terminal({ allowProposedApi: true, logLevel: 'off' });
  const ground = new Ground();
  let yes = 0;
  for (let i = 0; i < 1_000; i++) {
    const chunk = encode(Array.from({ length: 1 + next(6) }, () => parts[next(parts.length)]).join(''));
    terminal.write(chunk);
    if (!ground.after(chunk)) continue;
    yes++;
    expect(await xtermIsInGround(terminal), `chunk ${i}: ${[...chunk]}`).toBe(true);
  }
  terminal.dispose();
  expect(yes).toBeGreaterThan(100);
});
