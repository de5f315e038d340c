import { byId, h, icon, keepFocus } from './dom.ts';
import { Badge } from './sharing/badge.ts';
import type { MenuPlace } from './sharing/menu.ts';
import { modes, presence, unusual, type TabSharing } from './sharing/tab-sharing.ts';
import type { Tab } from './tab.ts';

/** What a person does in the tab list. */
export interface TabStripEvents {
  select(tab: Tab): void;
  close(tab: Tab): void;
  rename(tab: Tab): void;
  /** The person wants the tab's menu. */
  menu(tab: Tab, place: MenuPlace): void;
  /** The keyboard leaves the list for the terminal. */
  leave(): void;
}

interface Item {
  root: HTMLElement;
  tab: HTMLElement;
  label: HTMLElement;
  badge: Badge;
  menu: HTMLButtonElement;
  close: HTMLButtonElement;
}

/** The list of tabs: one stop for the Tab key, arrows inside (the tabs pattern of the ARIA practices). */
export class TabStrip {
  private readonly list = byId('tabs');
  private readonly items = new Map<Tab, Item>();
  private readonly sharing = new WeakMap<Tab, TabSharing>();
  private selected: Tab | undefined;

  constructor(private readonly events: TabStripEvents) {
    this.list.addEventListener('keydown', (event) => this.handleKey(event));
    // A wheel that only turns up and down scrolls a long list sideways.
    this.list.addEventListener('wheel', (event) => {
      if (event.deltaX === 0) this.list.scrollLeft += event.deltaY;
    }, { passive: true });
  }

  /** Shows these tabs in this order, with `selected` as the current one. */
  draw(tabs: readonly Tab[], selected: Tab | undefined): void {
    for (const [tab, item] of this.items) {
      if (tabs.includes(tab)) continue;
      item.root.remove();
      this.items.delete(tab);
    }
    tabs.forEach((tab, index) => {
      const item = this.items.get(tab) ?? this.add(tab);
      if (this.list.children[index] !== item.root) this.list.insertBefore(item.root, this.list.children[index] ?? null);
      const current = tab === selected;
      item.root.classList.toggle('current', current);
      item.tab.setAttribute('aria-selected', String(current));
      item.tab.tabIndex = current ? 0 : -1;
      this.update(tab);
    });
    if (selected && selected !== this.selected) {
      this.items.get(selected)?.root.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
    this.selected = selected;
  }

  /** Shows a tab's changed title and state. */
  update(tab: Tab): void {
    const item = this.items.get(tab);
    if (!item) return;
    const ended = tab.exit !== undefined || tab.gone;
    const sharing = this.sharing.get(tab);
    item.label.textContent = tab.label;
    item.tab.title = details(tab, sharing).join('\n');
    item.root.classList.toggle('ended', ended);
    item.root.classList.toggle('news-ok', !ended && tab.news === 'ok');
    item.root.classList.toggle('news-failed', !ended && tab.news === 'failed');
    item.badge.show(sharing);
    const state = [ended ? 'ended' : '', newsWords(tab), sharing ? unusual(sharing) : ''].filter((part) => part !== '').join(', ');
    item.tab.setAttribute('aria-label', state === '' ? tab.title : `${tab.title} (${state})`);
    item.menu.setAttribute('aria-label', `Menu of ${tab.title}`);
    item.close.setAttribute('aria-label', `Close ${tab.title}`);
  }

  /** Shows who is at a tab; undefined while nobody knows. */
  share(tab: Tab, sharing: TabSharing | undefined): void {
    if (sharing) this.sharing.set(tab, sharing);
    else this.sharing.delete(tab);
    this.update(tab);
  }

  /** Opens the menu of the current tab, as its button does. */
  openMenu(): void {
    if (this.selected) this.askMenu(this.selected);
  }

  /** Moves the keyboard to the current tab. */
  focus(): void {
    if (this.selected) this.items.get(this.selected)?.tab.focus();
  }

  private add(tab: Tab): Item {
    const label = h('span', { class: 'tab-label' });
    const badge = new Badge();
    const button = h(
      'button',
      { type: 'button', role: 'tab', id: tab.key, class: 'tab', 'aria-controls': `${tab.key}-panel`, 'aria-keyshortcuts': 'Shift+F10' },
      h('span', { class: 'tab-dot', 'aria-hidden': 'true' }),
      label,
      badge.element,
    );
    button.addEventListener('click', () => this.events.select(tab));
    button.addEventListener('dblclick', () => this.events.rename(tab));
    const menu = h('button', { type: 'button', class: 'tab-menu', tabindex: -1, 'aria-haspopup': 'menu' }, icon('icon-more'));
    menu.title = 'Sharing, rename, close (Ctrl+Shift+S)';
    keepFocus(menu); // who had the keyboard gets it back from the menu
    menu.addEventListener('click', () => this.askMenu(tab));
    const close = h('button', { type: 'button', class: 'tab-close', tabindex: -1 }, icon('icon-cross'));
    close.addEventListener('click', () => this.events.close(tab));
    const root = h('div', { class: 'tab-item', role: 'presentation' }, button, menu, close);
    root.addEventListener('contextmenu', (event) => {
      event.preventDefault();
      this.events.menu(tab, { x: event.clientX, y: event.clientY });
    });
    root.addEventListener('auxclick', (event) => {
      if (event.button === 1) this.events.close(tab);
    });
    const item = { root, tab: button, label, badge, menu, close };
    this.items.set(tab, item);
    return item;
  }

  private handleKey(event: KeyboardEvent): void {
    const tabs = [...this.items.keys()].sort((a, b) => this.position(a) - this.position(b));
    const at = tabs.findIndex((tab) => this.items.get(tab)!.tab === document.activeElement);
    const tab = tabs[at];
    if (tab && (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey))) {
      event.preventDefault(); // where the browser makes a contextmenu event of it, it has no good place
      this.askMenu(tab);
      return;
    }
    if (!tab || event.ctrlKey || event.altKey || event.metaKey) return;
    const move = (to: Tab | undefined) => {
      if (!to) return;
      this.events.select(to);
      this.focus();
    };
    switch (event.key) {
      case 'ArrowRight':
        move(tabs[(at + 1) % tabs.length]);
        break;
      case 'ArrowLeft':
        move(tabs[(at + tabs.length - 1) % tabs.length]);
        break;
      case 'Home':
        move(tabs[0]);
        break;
      case 'End':
        move(tabs.at(-1));
        break;
      case 'F2':
        this.events.rename(tab);
        break;
      case 'Delete':
        this.events.close(tab);
        break;
      case 'Enter':
      case ' ':
      case 'Escape':
        this.events.leave();
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  private askMenu(tab: Tab): void {
    const { root } = this.items.get(tab)!;
    root.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    this.events.menu(tab, root);
  }

  private position(tab: Tab): number {
    return [...this.list.children].indexOf(this.items.get(tab)!.root);
  }
}

function newsWords({ news }: Tab): string {
  return news === undefined ? '' : news === 'ok' ? 'command finished' : 'command failed';
}

function details(tab: Tab, sharing: TabSharing | undefined): string[] {
  const lines = [tab.title];
  if (tab.cwd !== '') lines.push(tab.cwd);
  if (tab.runningName !== undefined) lines.push(`Running: ${tab.runningName}`);
  if (sharing) lines.push(...presence(sharing), modes.find(({ mode }) => mode === sharing.mode)!.means);
  return lines;
}
