import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readSharingState } from './parse.ts';
import { reduceRoot, reduceSharing, reduceTerminal } from './reducers.ts';
import type { AnyAction, RootState, SharingState, TerminalState } from './types.ts';

interface Fixture {
  description: string;
  reducer: string;
  initial: unknown;
  actions: AnyAction[];
  expected: unknown;
}

/** The protocol's own fixtures: TANDEM_PROTOCOL_DATA, or shared/protocol/ahp-data beside the repository. */
function fixtures(folder: string): [string, Fixture][] {
  const root = process.env['TANDEM_PROTOCOL_DATA'] ?? beside(dirname(fileURLToPath(import.meta.url)));
  const path = root && join(root, folder);
  if (!path || !existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, JSON.parse(readFileSync(join(path, name), 'utf8')) as Fixture]);
}

function beside(folder: string): string | undefined {
  const data = join(folder, 'shared/protocol/ahp-data');
  if (existsSync(data)) return data;
  return dirname(folder) === folder ? undefined : beside(dirname(folder));
}

function reduce({ reducer, initial, actions }: Fixture): unknown {
  switch (reducer) {
    case 'root':
      return actions.reduce(reduceRoot, initial as RootState);
    case 'terminal':
      return actions.reduce(reduceTerminal, initial as TerminalState);
    default:
      throw new Error(`no reducer for ${reducer}`);
  }
}

describe.each(['reducers', 'reducers-1.x/derived'])('the fixtures of %s', (folder) => {
  const found = fixtures(folder);
  if (found.length === 0) {
    test.skip('are not here: set TANDEM_PROTOCOL_DATA to the folder that has them', () => undefined);
    return;
  }

  test.each(found)('%s', (_name, fixture) => {
    const before = structuredClone(fixture.initial);
    expect(reduce(fixture)).toStrictEqual(fixture.expected);
    expect(fixture.initial, 'the state before').toStrictEqual(before);
  });
});

const sharing: SharingState = {
  paused: false,
  terminals: {
    'ahp-terminal:/1': {
      id: '1',
      mode: 'ask',
      created: '2026-11-21T10:00:00Z',
      maker: { kind: 'person', name: 'Firefox' },
      holder: { kind: 'person', name: 'Firefox', client: 'login-1' },
      watchers: [{ kind: 'program', name: 'claude', client: 'c1' }],
    },
  },
  requests: [{ id: 'r1', resource: 'ahp-terminal:/1', program: 'claude', created: '2026-11-21T10:00:00Z' }],
};

test('sharing/changed replaces everything', () => {
  const state: SharingState = { paused: true, terminals: {}, requests: [] };
  expect(reduceSharing(sharing, { type: 'sharing/changed', state })).toStrictEqual(state);
  expect(reduceSharing(state, { type: 'sharing/changed', state: sharing })).toStrictEqual(sharing);
});

test.each([
  { type: 'sharing/modeSet', resource: 'ahp-terminal:/1', mode: 'private' },
  { type: 'sharing/pausedSet', paused: true },
  { type: 'sharing/requestAnswered', request: 'r1', answer: 'no' },
  { type: 'sharing/changed' },
  { type: 'sharing/changed', state: { terminals: {}, requests: [] } },
  { type: 'sharing/unheardOf' },
])('$type alone changes nothing', (action) => {
  expect(reduceSharing(sharing, action)).toBe(sharing);
});

test('a sharing state keeps what is sound, and lists that are null are empty', () => {
  expect(readSharingState({ paused: true, terminals: null, requests: null })).toStrictEqual({ paused: true, terminals: {}, requests: [] });
  const [resource, sound] = Object.entries(sharing.terminals)[0]!;
  const state = JSON.parse(
    JSON.stringify({
      paused: false,
      terminals: {
        [resource]: { ...sound, watchers: [...sound.watchers, { kind: 'ghost', name: 'x', client: 'y' }, null] },
        'ahp-terminal:/2': { ...sound, mode: 'open' },
        'ahp-terminal:/3': { ...sound, holder: { kind: 'person', name: 'no client' } },
        'ahp-terminal:/4': null,
        PROTO: sound,
      },
      requests: [...sharing.requests, { id: 'r2' }, 7],
    }).replace('PROTO', '__proto__'),
  ) as unknown;
  const read = readSharingState(state)!;
  expect(Object.keys(read.terminals)).toEqual([resource, '__proto__']);
  expect(Object.getPrototypeOf(read.terminals)).toBe(Object.prototype);
  expect(read.terminals[resource]).toStrictEqual(sound);
  expect(read.requests).toStrictEqual(sharing.requests);
});

test.each([
  { type: 'root/terminalsChanged', terminals: 'none' },
  { type: 'root/agentsChanged' },
  { type: 'root/activeSessionsChanged', activeSessions: 1.5 },
  { type: 'root/configChanged', config: [] },
])('$type with a bad field changes nothing', (action) => {
  const state: RootState = { agents: [], terminals: [], config: { schema: {}, values: { theme: 'dark' } } };
  expect(reduceRoot(state, action)).toBe(state);
});

test.each([
  { type: 'terminal/data', data: 7 },
  { type: 'terminal/resized', cols: '80', rows: 24 },
  { type: 'terminal/claimed', claim: { kind: 'client' } },
  { type: 'terminal/titleChanged', title: null },
  { type: 'terminal/commandExecuted', commandId: 'c' },
])('$type with a bad field changes nothing', (action) => {
  const state: TerminalState = { title: 'sh', content: [], claim: { kind: 'client', clientId: 'c1' } };
  expect(reduceTerminal(state, action)).toBe(state);
});
