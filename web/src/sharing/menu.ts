import { h, icon } from '../dom.ts';

/** What a menu offers. */
export type MenuEntry =
  | { label: string; keys?: string; danger?: boolean; choose(): void }
  | { group: string; options: readonly MenuOption[] }
  | 'line';

/** One of several that exclude each other. */
export interface MenuOption {
  label: string;
  /** What the option means, in a sentence. */
  means: string;
  chosen: boolean;
  choose(): void;
}

/** Where a menu opens: below an element, which closes it when pressed again, or at a point of the window. */
export type MenuPlace = Element | { x: number; y: number };

/** How far a menu stays from the window's edges, in CSS pixels. */
const MARGIN = 8;

let count = 0;

/**
 * A popup menu (the menu pattern of the ARIA practices): it takes the keyboard while it is open, and gives it back to
 * what had it before when something is chosen or Escape is pressed.
 */
export class Menu {
  private root: HTMLElement | undefined;
  private place: MenuPlace | undefined;
  private before: Element | null = null;
  private readonly onPress = (event: Event) => {
    const target = event.target as Node;
    const onOpener = this.place instanceof Element && this.place.contains(target);
    if (!this.root?.contains(target) && !onOpener) this.close(false);
  };
  private readonly onResize = () => this.close();

  get isOpen(): boolean {
    return this.root !== undefined;
  }

  /** Opens the menu. `title` names it, `notes` are sentences above its entries. Opened again below the same element, it closes. */
  open(place: MenuPlace, title: string, notes: readonly string[], entries: readonly MenuEntry[]): void {
    const again = place instanceof Element && place === this.place;
    this.close();
    if (again) return;
    this.place = place;
    this.before = document.activeElement;
    this.root = h('div', { class: 'menu', popover: 'manual' });
    this.fill(title, notes, entries);
    this.root.addEventListener('keydown', (event) => this.handleKey(event));
    this.root.addEventListener('contextmenu', (event) => event.preventDefault());
    this.root.addEventListener('focusout', (event) => {
      // Without a relatedTarget the focus went to nothing or to another window, and may come back.
      if (event.relatedTarget && !this.root?.contains(event.relatedTarget as Node)) this.close(false);
    });
    document.body.append(this.root);
    this.root.showPopover();
    this.position();
    const first = this.items()[0];
    // Enter at once must not choose another option.
    (first?.getAttribute('role') === 'menuitemradio' ? this.items().find((item) => item.getAttribute('aria-checked') === 'true') : first)?.focus();
    document.addEventListener('pointerdown', this.onPress, true);
    addEventListener('resize', this.onResize);
  }

  /** Shows other contents in the open menu; the keyboard stays where it was among the entries. */
  update(title: string, notes: readonly string[], entries: readonly MenuEntry[]): void {
    if (!this.root) return;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['entry'] : undefined;
    const hadFocus = this.root.contains(document.activeElement);
    this.fill(title, notes, entries);
    this.position();
    if (hadFocus) (this.items().find((item) => item.dataset['entry'] === focused) ?? this.items()[0])?.focus();
  }

  /** Closes the menu, if it is open, and gives the keyboard back unless somebody else has it by now. */
  close(giveBack = true): void {
    const { root, before } = this;
    if (!root) return;
    const hadFocus = root.contains(document.activeElement);
    this.root = undefined; // before the focus moves, which closes the menu as well
    this.place = undefined;
    document.removeEventListener('pointerdown', this.onPress, true);
    removeEventListener('resize', this.onResize);
    if (giveBack && hadFocus && before instanceof HTMLElement) before.focus();
    root.remove();
  }

  private fill(title: string, notes: readonly string[], entries: readonly MenuEntry[]): void {
    const id = `menu-${++count}`;
    const list = h('div', { role: 'menu', 'aria-label': title, 'aria-describedby': notes.length > 0 ? id : undefined });
    list.append(...entries.map((entry) => this.draw(entry)));
    const head = h('div', { class: 'menu-head', id }, ...notes.map((note) => h('p', {}, note)));
    this.root!.replaceChildren(...(notes.length > 0 ? [head] : []), list);
  }

  private draw(entry: MenuEntry): HTMLElement {
    if (entry === 'line') return h('div', { class: 'menu-line', role: 'separator' });
    if ('group' in entry) {
      const id = `menu-${++count}`;
      const heading = h('div', { class: 'menu-group', id, role: 'presentation' }, entry.group);
      return h('div', { role: 'group', 'aria-labelledby': id }, heading, ...entry.options.map((option) => this.option(option)));
    }
    const label = h('span', {}, entry.label);
    const keys = entry.keys === undefined ? [] : [h('kbd', { 'aria-hidden': 'true' }, entry.keys)];
    const item = this.item('menuitem', entry.label, entry.choose, label, ...keys);
    item.classList.toggle('danger', entry.danger === true);
    if (entry.keys !== undefined) item.setAttribute('aria-keyshortcuts', entry.keys.replaceAll(/\bCtrl\b/g, 'Control'));
    return item;
  }

  private option({ label, means, chosen, choose }: MenuOption): HTMLElement {
    const id = `menu-${++count}`;
    const name = h('span', { class: 'menu-name', id: `${id}-name` }, label);
    const text = h('span', { class: 'menu-means', id: `${id}-means` }, means);
    const item = this.item('menuitemradio', label, choose, icon('icon-check'), h('span', { class: 'menu-option' }, name, text));
    item.setAttribute('aria-checked', String(chosen));
    item.setAttribute('aria-labelledby', name.id);
    item.setAttribute('aria-describedby', text.id);
    return item;
  }

  private item(role: string, entry: string, choose: () => void, ...content: Node[]): HTMLElement {
    const item = h('button', { type: 'button', class: 'menu-item', role, tabindex: -1, 'data-entry': entry }, ...content);
    item.addEventListener('click', () => {
      this.close();
      choose();
    });
    item.addEventListener('pointermove', () => item.focus({ preventScroll: true })); // one highlight for mouse and keyboard
    return item;
  }

  private items(): HTMLElement[] {
    return [...(this.root?.querySelectorAll<HTMLElement>('.menu-item') ?? [])];
  }

  private position(): void {
    const root = this.root!;
    const anchor = this.place instanceof Element ? this.place.getBoundingClientRect() : new DOMRect(this.place!.x, this.place!.y);
    const height = visualViewport?.height ?? innerHeight;
    root.style.maxHeight = `${height - 2 * MARGIN}px`;
    const { left, top } = placeMenu(anchor, root.getBoundingClientRect(), { width: innerWidth, height });
    root.style.left = `${left}px`;
    root.style.top = `${top}px`;
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const items = this.items();
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'Escape' || event.key === 'Tab') {
      this.close();
    } else {
      const to = nextItem(event.key, at, items.map((item) => item.dataset['entry']!));
      if (to === undefined) return; // Enter and the space bar press the button
      items[to]?.focus();
    }
    event.preventDefault();
  }
}

/** Returns where the keyboard goes from entry `at` by a key, or undefined if it stays. A letter goes to the next entry that begins with it. */
export function nextItem(key: string, at: number, entries: readonly string[]): number | undefined {
  const { length } = entries;
  switch (key) {
    case 'ArrowDown':
      return (at + 1) % length;
    case 'ArrowUp':
      return (at + length - 1 + (at < 0 ? 1 : 0)) % length;
    case 'Home':
      return 0;
    case 'End':
      return length - 1;
  }
  if (key.length !== 1 || key === ' ') return undefined;
  for (let step = 1; step <= length; step++) {
    const index = (at + step) % length;
    if (entries[index]!.toLowerCase().startsWith(key.toLowerCase())) return index;
  }
  return undefined;
}

interface Box {
  left: number;
  bottom: number;
}

interface Size {
  width: number;
  height: number;
}

/** Returns the place below `anchor` for a menu, moved as far as it must be to stay inside the window. In CSS pixels. */
export function placeMenu(anchor: Box, menu: Size, window: Size): { left: number; top: number } {
  const fit = (wanted: number, size: number, room: number) => Math.max(MARGIN, Math.min(wanted, room - size - MARGIN));
  return { left: fit(anchor.left, menu.width, window.width), top: fit(anchor.bottom + 2, menu.height, window.height) };
}
