import { describe, expect, test, vi } from 'vitest';

vi.stubGlobal('navigator', { platform: 'Linux x86_64' });
const { matchShortcut, shortcutHelp } = await import('./shortcuts.ts');

const press = (code: string, modifiers: string, key = '') =>
  matchShortcut({
    code,
    key,
    ctrlKey: modifiers.includes('C'),
    shiftKey: modifiers.includes('S'),
    altKey: modifiers.includes('A'),
    metaKey: modifiers.includes('M'),
  } as KeyboardEvent);

describe('matchShortcut', () => {
  test.each([
    ['Enter', 'CS', 'new'],
    ['KeyX', 'CS', 'close'],
    ['PageDown', 'A', 'next'],
    ['PageUp', 'A', 'previous'],
    ['Home', 'CS', 'tabs'],
    ['KeyL', 'CS', 'clear'],
    ['Slash', 'CS', 'help'],
    ['Digit3', 'CS', { goto: 2 }],
    ['KeyS', 'CS', 'menu'],
    ['Backspace', 'CS', 'takeBack'],
    ['End', 'CS', 'requests'],
    ['KeyH', 'CS', 'pause'],
    ['KeyF', 'CS', 'commands'],
    ['ArrowRight', 'CS', 'command'],
    ['ArrowUp', 'CS', 'previousCommand'],
    ['ArrowDown', 'CS', 'nextCommand'],
  ])('%s with %s does %j', (code, modifiers, action) => expect(press(code, modifiers)).toEqual(action));

  test.each([
    ['a bare key', 'Enter', ''],
    ['what shells and editors take', 'KeyX', 'C'],
    ['the scrolling keys', 'PageUp', 'S'],
    ['readline’s Alt keys', 'Digit3', 'A'],
    ['readline’s erasing', 'Backspace', 'C'],
    ['flow control', 'KeyS', 'C'],
    ['words back and forth', 'ArrowRight', 'C'],
    ['selecting in editors', 'ArrowUp', 'S'],
    ['AltGr', 'Digit3', 'CA'],
    ['AltGr with Shift', 'KeyX', 'CSA'],
    ['the system’s Cmd keys', 'KeyX', 'CSM'],
    ['copy and paste, which the terminal handles', 'KeyC', 'CS'],
  ])('leaves %s alone', (_what, code, modifiers) => expect(press(code, modifiers)).toBeUndefined());

  test('finds the question mark wherever a keyboard has it', () => {
    expect(press('Minus', 'CS', '?')).toBe('help');
  });

  test('is explained in full by the help', () => {
    const keys = shortcutHelp.map(([k]) => k).join(' ');
    for (const part of ['Enter', 'Shift+X', 'Page Down', 'Page Up', 'Home', 'Shift+L', '?', '1 … 9', 'Shift+S', 'Backspace', 'Shift+End', 'Shift+H', 'Shift+F', 'Shift+→', '↑, ↓']) expect(keys).toContain(part);
  });
});
