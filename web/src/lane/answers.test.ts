import { expect, test } from 'vitest';
import { isAnswer } from './answers.ts';

test.each([
  ['cursor position', '\x1b[12;40R'],
  ['cursor position in row 1', '\x1b[1;3R'],
  ['device status', '\x1b[0n'],
  ['primary attributes', '\x1b[?1;2c'],
  ['secondary attributes', '\x1b[>0;276;0c'],
  ['a mode', '\x1b[?2004;1$y'],
  ['window size', '\x1b[8;24;80t'],
  ['focus in', '\x1b[I'],
  ['mouse press', '\x1b[<0;10;5M'],
  ['mouse release', '\x1b[<0;10;5m'],
  ['old mouse', '\x1b[M !!'],
  ['background colour', '\x1b]11;rgb:1414/1616/1b1b\x1b\\'],
  ['status string', '\x1bP1$r0m\x1b\\'],
])('%s is an answer', (_what, data) => expect(isAnswer(data)).toBe(true));

test.each([
  ['a letter', 'R'],
  ['Ctrl-C', '\x03'],
  ['Escape', '\x1b'],
  ['up', '\x1b[A'],
  ['up in application mode', '\x1bOA'],
  ['Ctrl+left', '\x1b[1;5D'],
  ['Page Up', '\x1b[5~'],
  ['Shift+Tab', '\x1b[Z'],
  ['F1', '\x1bOP'],
  ['Alt+P', '\x1bP'],
  ['Alt+]', '\x1b]'],
  ['Alt+[', '\x1b['],
  ['a bracketed paste', '\x1b[200~ls\x1b[201~'],
])('%s is typed', (_what, data) => expect(isAnswer(data)).toBe(false));
