import { expect, test } from 'vitest';
import { durationWords, nameOfCommand, outcomeOf, outcomeWords, type Command } from './command.ts';

test.each([
  [0, '0.0 s'],
  [249, '0.2 s'],
  [9_949, '9.9 s'],
  [9_950, '10 s'],
  [59_400, '59 s'],
  [59_600, '1 min 0 s'],
  [185_000, '3 min 5 s'],
  [7_800_000, '2 h 10 min'],
])('%d ms is %s', (milliseconds, words) => expect(durationWords(milliseconds)).toBe(words));

test.each([
  [undefined, 'running', 'running'],
  [{ exitCode: 0, duration: 100 }, 'ok', 'exit code 0, 0.1 s'],
  [{ exitCode: 2, duration: 100 }, 'failed', 'exit code 2, 0.1 s'],
  [{ exitCode: undefined, duration: 100 }, 'unknown', 'exit code unknown, 0.1 s'],
] as const)('%j is %s', (end, outcome, words) => {
  const command: Command = { id: 'c1', line: 'x', cwd: '', started: 0, end };
  expect(outcomeOf(command)).toBe(outcome);
  expect(outcomeWords(command)).toBe(words);
});

test.each([
  ['make', 'make'],
  ['for i in 1 2\ndo\techo\ndone', 'for i in 1 2 do echo done'],
  ['', 'A command'],
  ['👩'.repeat(81), `${'👩'.repeat(79)}…`],
])('%j is named %j', (line, name) => expect(nameOfCommand({ line })).toBe(name));
