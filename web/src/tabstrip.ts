import { byId, h } from './dom.ts';
import type { Tab } from './tab.ts';

/** What a person does in the tab list. */
export interface TabStripEvents {
  select(tab: Tab): void;
  close(tab: Tab): void;
  rename(tab: Tab): void;
  /** The keyboard leaves the list for the terminal. */
  leave(): void;
}

interface Item {
  root: HTMLElement;
  tab: HTMLElement;
  label: HTMLElement;
  close: HTMLButtonElement;
}

/** The list of tabs: one stop for the Tab key, arrows inside (the tabs pattern of the ARIA practices). */
export class TabStrip {
  private readonly list = byId('tabs');
  private readonly items = new Map<Tab, Item>();
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
    item.label.textContent = tab.title;
    item.tab.title = tab.cwd === '' ? tab.title : `${tab.title}\n${tab.cwd}`;
    item.root.classList.toggle('ended', tab.exit !== undefined || tab.gone);
    item.tab.setAttribute('aria-label', tab.exit || tab.gone ? `${tab.title} (ended)` : tab.title);
    item.close.setAttribute('aria-label', `Close ${tab.title}`);
  }

  /** Moves the keyboard to the current tab. */
  focus(): void {
    if (this.selected) this.items.get(this.selected)?.tab.focus();
  }

  private add(tab: Tab): Item {
    const label = h('span', { class: 'tab-label' });
    const button = h(
      'button',
      { type: 'button', role: 'tab', id: tab.key, class: 'tab', 'aria-controls': `${tab.key}-panel` },
      h('span', { class: 'tab-dot', 'aria-hidden': 'true' }),
      label,
    );
    button.addEventListener('click', () => this.events.select(tab));
    button.addEventListener('dblclick', () => this.events.rename(tab));
    const close = h('button', { type: 'button', class: 'tab-close', tabindex: -1 });
    close.append(icon('icon-cross'));
    close.addEventListener('click', () => this.events.close(tab));
    const root = h('div', { class: 'tab-item', role: 'presentation' }, button, close);
    root.addEventListener('auxclick', (event) => {
      if (event.button === 1) this.events.close(tab);
    });
    const item = { root, tab: button, label, close };
    this.items.set(tab, item);
    return item;
  }

  private handleKey(event: KeyboardEvent): void {
    const tabs = [...this.items.keys()].sort((a, b) => this.position(a) - this.position(b));
    const at = tabs.findIndex((tab) => this.items.get(tab)!.tab === document.activeElement);
    const tab = tabs[at];
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

  private position(tab: Tab): number {
    return [...this.list.children].indexOf(this.items.get(tab)!.root);
  }
}

function icon(id: string): SVGSVGElement {
  const namespace = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(namespace, 'svg');
  svg.classList.add('icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(namespace, 'use');
  use.setAttribute('href', `#${id}`);
  svg.append(use);
  return svg;
}
