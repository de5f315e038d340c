import { beforeEach, describe, expect, test } from 'vitest';
import type { Command } from './command.ts';
import { matching } from './list.ts';
import { CommandLog } from './log.ts';

const start = (id: string, line = id) => ({ type: 'command', id, line, cwd: '/', started: 0 }) as const;
const end = (id: string, exitCode: number | undefined = 0) => ({ type: 'command', id, exitCode, duration: 5 }) as const;

describe('CommandLog', () => {
  let ended: string[];
  let log: CommandLog;
  const ids = () => log.all.map(({ id }) => id);

  beforeEach(() => {
    ended = [];
    log = new CommandLog({ changed: () => undefined, ended: ({ id }: Command) => ended.push(id) });
  });

  test('follows a command from its start to its end', () => {
    log.take(start('c1', 'make'), false);
    expect(log.running).toMatchObject({ id: 'c1', line: 'make', end: undefined });
    log.take(end('c1', 2), false);
    expect(log.running).toBeUndefined();
    expect(log.get('c1')).toMatchObject({ line: 'make', end: { exitCode: 2, duration: 5 } });
    expect(ended).toEqual(['c1']);
  });

  test('takes a command that a replay tells again for the same one', () => {
    log.take(start('c1'), false);
    log.take(end('c1'), false);
    log.take(start('c2'), false);
    log.take(start('c1'), true);
    log.take(end('c1'), true);
    log.take(start('c2'), true);
    expect(ids()).toEqual(['c1', 'c2']);
    expect(ended).toEqual(['c1']);
    log.take(end('c2'), true); // it ended while the connection was away
    expect(ended).toEqual(['c1', 'c2']);
  });

  test('has no news of what started and ended before the page came', () => {
    log.take(start('c1'), true);
    log.take(end('c1'), true);
    log.take(start('c2'), true);
    expect(ended).toEqual([]);
    log.take(end('c2'), false); // but of what ends now
    expect(ended).toEqual(['c2']);
  });

  test('ignores the end of a command that it does not know', () => {
    log.take(end('c9'), false);
    expect(ids()).toEqual([]);
    expect(ended).toEqual([]);
  });

  test('keeps the newest thousand', () => {
    for (let n = 1; n <= 1_001; n++) log.take(start(`c${n}`), false);
    expect(ids()).toHaveLength(1_000);
    expect(ids()[0]).toBe('c2');
  });

  test('forgets what was cleared, but not what runs', () => {
    for (const id of ['c1', 'c2']) {
      log.take(start(id), false);
      log.take(end(id), false);
    }
    log.take(start('c3'), false);
    log.keep((id) => id === 'c2');
    expect(ids()).toEqual(['c2', 'c3']);
  });
});

test('a filter finds all words in any order, newest first', () => {
  const commands = ['git log', 'make test', 'git commit -m "Test"'].map((line) => ({ ...start('c', line), end: undefined }));
  const lines = (filter: string) => matching(commands, filter).map(({ line }) => line);
  expect(lines('')).toEqual(['git commit -m "Test"', 'make test', 'git log']);
  expect(lines(' test GIT ')).toEqual(['git commit -m "Test"']);
  expect(lines('no')).toEqual([]);
});
