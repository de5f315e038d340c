import type { Mode } from '../ahp/types.ts';
import { Menu, type MenuEntry, type MenuPlace } from './menu.ts';
import { modes, presence, type TabSharing } from './tab-sharing.ts';

/** The tab that a menu is about. */
export interface TabMenuSubject {
  title: string;
  /** Whether the terminal ended with the server. */
  gone: boolean;
  /** Undefined while it is not known, as when the connection is away: the menu then offers only what needs none. */
  sharing: TabSharing | undefined;
  /** Whether programs are paused. */
  paused: boolean;
}

/** What a person does by a tab's menu. */
export interface TabMenuEvents {
  takeBack(): void;
  setMode(mode: Mode): void;
  commands(): void;
  rename(): void;
  close(): void;
}

/** The menu of a tab: who is there, what programs may do, and what the person can do about it. */
export class TabMenu {
  private readonly menu = new Menu();
  private events: TabMenuEvents | undefined;

  get isOpen(): boolean {
    return this.menu.isOpen;
  }

  /** Opens the menu. The events are those of this tab, until another one's menu is opened. */
  open(place: MenuPlace, subject: TabMenuSubject, events: TabMenuEvents): void {
    this.events = events;
    this.menu.open(place, ...contents(subject, events));
  }

  /** Shows what has changed about the tab while its menu is open. */
  update(subject: TabMenuSubject): void {
    if (this.events) this.menu.update(...contents(subject, this.events));
  }

  /** Closes the menu, as when its tab goes. */
  close(): void {
    this.menu.close();
  }
}

/** Returns the title, the notes and the entries of a tab's menu. */
export function contents({ title, gone, sharing, paused }: TabMenuSubject, events: TabMenuEvents): [string, string[], MenuEntry[]] {
  const notes = sharing ? presence(sharing) : [];
  if (!sharing && !gone) notes.push('Who is here is not known while the connection is away.');
  if (paused && !gone) notes.push('Programs are paused.');
  const entries: MenuEntry[] = [];
  if (sharing?.holder) entries.push({ label: 'Take back', keys: 'Ctrl+Shift+Backspace', choose: () => events.takeBack() }, 'line');
  if (sharing) {
    const options = modes.map(({ mode, label, means }) => ({
      label,
      means,
      chosen: mode === sharing.mode,
      choose: () => events.setMode(mode),
    }));
    entries.push({ group: 'What programs may do here', options }, 'line');
  }
  entries.push(
    { label: 'Commands…', keys: 'Ctrl+Shift+F', choose: () => events.commands() },
    { label: 'Rename…', choose: () => events.rename() },
    { label: 'Close', keys: 'Ctrl+Shift+X', choose: () => events.close() },
  );
  return [`Terminal ${title}`, notes, entries];
}
