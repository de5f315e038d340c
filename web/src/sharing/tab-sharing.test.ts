import { describe, expect, test } from 'vitest';
import type { Holder, Watcher } from '../ahp/types.ts';
import { modes, presence, tabSharing, unusual } from './tab-sharing.ts';

const desk: Watcher = { kind: 'person', name: 'Firefox on Linux', client: 'login-desk' };
const phone: Watcher = { kind: 'person', name: '', client: 'login-phone' };
const claude: Watcher = { kind: 'program', name: 'claude', client: 'c1' };
const claude2: Watcher = { kind: 'program', name: 'claude', client: 'c2' };
const session: Holder = { kind: 'session', name: 'claude', client: 'ahp-session:/one' };

const seen = (holder: Holder, watchers: Watcher[], mode = 'ask' as const) => tabSharing({ mode, holder, watchers }, desk.client);

describe('tabSharing', () => {
  test('shows no holder while a person drives, on any device', () => {
    expect(seen(desk, []).holder).toBeUndefined();
    expect(seen(phone, []).holder).toBeUndefined();
    expect(seen(claude, []).holder).toBe(claude);
    expect(seen(session, []).holder).toBe(session);
  });

  test('shows a device in place of a holder where the shell runs there', () => {
    const laptop: Holder = { kind: 'program', name: 'laptop', client: 'l1' };
    const sharing = tabSharing({ mode: 'watch', holder: laptop, device: 'laptop', watchers: [desk, { ...laptop, kind: 'program' }, claude] }, desk.client);
    expect(sharing).toMatchObject({ holder: undefined, device: 'laptop', watchers: [claude] });
    expect(presence(sharing)).toEqual(['Local to laptop: the shell runs there.', 'Watching: claude.']);
    expect(unusual(sharing)).toBe('local to laptop, 1 watching');
  });

  test('leaves out the page itself and the holder, and counts a client once', () => {
    expect(seen(claude, [desk, claude, claude2, claude2, phone]).watchers).toEqual([claude2, phone]);
  });

  test('counts another device of the person that drives', () => {
    expect(seen(phone, [desk, phone]).watchers).toEqual([phone]);
  });

  test('does not take a program for a device with the same id', () => {
    const twin: Watcher = { ...phone, kind: 'program', name: 'x' };
    expect(seen(desk, [phone, twin]).watchers).toHaveLength(2);
  });
});

describe('the words', () => {
  test('are none for what is usual', () => {
    for (const mode of ['watch', 'ask', 'share'] as const) {
      expect(unusual(tabSharing({ mode, holder: desk, watchers: [desk] }, desk.client))).toBe('');
    }
  });

  test('name all that is unusual', () => {
    expect(unusual(tabSharing({ mode: 'private', holder: desk, watchers: [phone] }, desk.client))).toBe('1 watching, private');
    expect(unusual(seen(claude, [phone, claude2]))).toBe('used by claude, 2 watching');
  });

  test('say who is there', () => {
    expect(presence(seen(desk, []))).toEqual(['You are using it.']);
    expect(presence(seen({ ...session, name: '' }, []))).toEqual(['In use by a session.']);
    expect(presence(seen(desk, [claude, claude2, phone]))).toEqual(['You are using it.', 'Watching: claude (2) and another device.']);
  });

  test('explain each mode once', () => {
    expect(new Set(modes.map(({ mode }) => mode)).size).toBe(4);
    expect(new Set(modes.map(({ means }) => means)).size).toBe(4);
  });
});
