import type { Holder, Mode, Watcher } from '../ahp/types.ts';

/** Who is at a terminal, as one page shows it. */
export interface TabSharing {
  mode: Mode;
  /** The program or session that drives the terminal; undefined while a person does, on whatever device. */
  holder: Holder | undefined;
  /** The device at which the shell runs, where the server does not run it itself: nobody else can drive it. */
  device: string | undefined;
  /** Everybody else who watches, each once: not this page, and not the holder. */
  watchers: readonly Watcher[];
}

/** What the server says of a terminal's sharing. */
export interface Shared {
  readonly mode: Mode;
  readonly holder: Holder;
  readonly device?: string | undefined;
  readonly watchers: readonly Watcher[];
}

/** Turns what the server says into what the page of the client `self` shows. */
export function tabSharing({ mode, holder, device, watchers }: Shared, self: string): TabSharing {
  const byPerson = holder.kind === 'person';
  const others = new Map<string, Watcher>();
  for (const watcher of watchers) {
    const isHolder = (!byPerson || device !== undefined) && watcher.client === holder.client;
    if (watcher.client !== self && !isHolder) others.set(`${watcher.kind} ${watcher.client}`, watcher);
  }
  return { mode, holder: byPerson || device !== undefined ? undefined : holder, device, watchers: [...others.values()] };
}

/** The modes from the most careful to the most open, in the words of the page. */
export const modes: readonly { readonly mode: Mode; readonly label: string; readonly means: string }[] = [
  { mode: 'private', label: 'Private', means: 'Programs cannot see this terminal.' },
  { mode: 'watch', label: 'Watch', means: 'Programs may read it, but not use it.' },
  { mode: 'ask', label: 'Ask', means: 'Programs may read it, and ask before they use it.' },
  { mode: 'share', label: 'Share', means: 'Programs may read and use it without asking.' },
];

/** Names somebody in a sentence. */
export function nameOf({ kind, name }: Pick<Holder, 'kind' | 'name'>): string {
  if (name !== '') return name;
  return { person: 'another device', program: 'a program', session: 'a session' }[kind];
}

/** Says who is at a terminal, a sentence each. */
export function presence({ holder, device, watchers }: TabSharing): string[] {
  const sentences = [device !== undefined ? `Local to ${device}: the shell runs there.` : holder ? `In use by ${nameOf(holder)}.` : 'You are using it.'];
  if (watchers.length > 0) sentences.push(`Watching: ${list(watchers.map(nameOf))}.`);
  return sentences;
}

/** Says for a screen reader what is unusual about a terminal; empty when nothing is. */
export function unusual({ mode, holder, device, watchers }: TabSharing): string {
  const parts: string[] = [];
  if (device !== undefined) parts.push(`local to ${device}`);
  if (holder) parts.push(`used by ${nameOf(holder)}`);
  if (watchers.length > 0) parts.push(`${watchers.length} watching`);
  if (mode === 'private') parts.push('private');
  return parts.join(', ');
}

/** Joins names, the same ones counted: "claude (2) and codex". */
function list(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const said = [...counts].map(([name, count]) => (count > 1 ? `${name} (${count})` : name));
  return new Intl.ListFormat('en').format(said);
}
