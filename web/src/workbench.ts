import type { NewTerminal, Removal, Store, Terminal } from './ahp/store.ts';
import { api, ApiError, type Session } from './api.ts';
import { CommandControls } from './commands/controls.ts';
import { ask, askText } from './dialog.ts';
import { openDevices } from './devices.ts';
import { button, byId, h } from './dom.ts';
import { openHelp } from './help.ts';
import { askLogin } from './login.ts';
import { notify } from './notices.ts';
import { openSettings } from './settings-dialog.ts';
import { SharingControls } from './sharing/controls.ts';
import { matchShortcut, type Action } from './shortcuts.ts';
import { tabOrder } from './tab-order.ts';
import { Tab, type TabEvents } from './tab.ts';
import { TabStrip } from './tabstrip.ts';

/** The tabs of the page, one for each terminal of the store, and everything a person does with them. */
export class Workbench {
  private tabs: Tab[] = [];
  private active: Tab | undefined;
  private readonly panes = byId('panes');
  private readonly empty: HTMLElement;
  private readonly strip: TabStrip;
  private readonly sharing: SharingControls;
  private readonly commands = new CommandControls();
  private readonly tabEvents: TabEvents;
  /** Tabs that were to start in another tab's directory, which may be gone by now. */
  private readonly inherited = new WeakSet<Tab>();
  /** While the login form is shown, which all tabs share. */
  private loggingIn: Promise<void> | undefined;

  /** Shows the terminals that are there, and the page itself. Without any, a shell is started. */
  constructor(
    private readonly session: Session,
    private readonly store: Store,
  ) {
    this.strip = new TabStrip({
      select: (tab) => this.select(tab),
      close: (tab) => void this.close(tab),
      rename: (tab) => void this.rename(tab),
      menu: (tab, place) => this.sharing.openMenu(tab, place),
      leave: () => this.active?.focus(),
    });
    this.sharing = new SharingControls(store, this.strip, {
      tabs: () => this.tabs,
      active: () => this.active,
      select: (tab) => this.select(tab),
      commands: (tab) => this.commands.openList(tab),
      rename: (tab) => void this.rename(tab),
      close: (tab) => void this.close(tab),
      report: (err) => this.report(err),
    });
    this.tabEvents = {
      changed: (tab) => {
        this.strip.update(tab);
        this.sharing.refresh();
        this.remember();
        if (tab === this.active) this.showTitle();
      },
      finished: (tab) => this.remove(tab),
      notMade: (tab, err) => {
        const again = this.inherited.has(tab) && this.tabs.includes(tab);
        this.remove(tab);
        if (again) this.start({}, this.tabs.length);
        else this.report(err);
      },
      replace: (tab) => this.replace(tab),
      close: (tab) => void this.close(tab),
      mark: (tab, id, mark) => this.commands.openMenuOf(tab, id, mark),
      show: (tab) => {
        if (this.tabs.includes(tab)) this.select(tab);
      },
      needsLogin: () => void this.logIn(),
    };
    this.empty = h(
      'div',
      { class: 'empty' },
      h('h2', {}, 'No shells are open'),
      h('p', { class: 'quiet' }, `A new one starts in ${session.dir}.`),
      button('New shell', () => this.create(), 'primary'),
    );
    this.panes.append(this.empty);
    byId('workbench').hidden = false;
    this.listen();
    for (const terminal of tabOrder.sort([...store.terminals.values()].filter(isShown))) this.insert(new Tab(terminal, this.tabEvents));
    if (this.tabs.length === 0) this.create();
    else this.select(this.tabs.find((tab) => tab.id === tabOrder.active()) ?? this.tabs[0]!);
    store.listen({
      added: (terminal) => this.added(terminal),
      removed: (terminal, why) => this.removed(terminal, why),
      changed: (terminal, before) => {
        // The lane may have told a newer title than the list has: only one that is new there counts.
        if (terminal.title !== before.title) this.tabOf(terminal)?.update(terminal);
      },
      needsLogin: () => void this.logIn(),
    });
  }

  /** Starts a shell in a new tab behind the others, in the directory of the current one. */
  create(): void {
    const { active } = this;
    if (!active || active.cwd === '' || active.device !== undefined) {
      this.start({}, this.tabs.length);
      return;
    }
    this.inherited.add(this.start({ cwd: active.cwd }, this.tabs.length));
  }

  /** Takes over changed settings and colours. */
  restyle(): void {
    for (const tab of this.tabs) tab.pane.restyle();
  }

  private start(spec: NewTerminal, index: number): Tab {
    const tab = new Tab((size) => this.store.create({ ...spec, ...size }), this.tabEvents);
    this.insert(tab, index);
    this.select(tab);
    return tab;
  }

  private tabOf({ resource }: Terminal): Tab | undefined {
    return this.tabs.find((tab) => tab.resource === resource);
  }

  /** Shows a terminal that has come to be, here or elsewhere. The keyboard stays where it is. */
  private added(terminal: Terminal): void {
    const tab = this.tabOf(terminal);
    if (tab) {
      tab.update(terminal);
    } else if (isShown(terminal)) {
      this.insert(new Tab(terminal, this.tabEvents));
      if (this.active) this.draw();
      else this.show(this.tabs[0]!);
    }
  }

  private removed(terminal: Terminal, why: Removal): void {
    const tab = this.tabOf(terminal);
    if (!tab) return; // closed here
    if (why === 'restarted' && tab.device === undefined) {
      tab.endWithServer();
      return;
    }
    if (tab === this.active) notify(tab.device === undefined ? `${tab.title} was closed elsewhere.` : `${tab.title} is not shared by ${tab.device} any more.`);
    // The keyboard goes to no other shell: somebody may be typing.
    this.remove(tab, (next) => this.show(next));
  }

  private insert(tab: Tab, index = this.tabs.length): void {
    this.tabs.splice(index, 0, tab);
    this.panes.append(tab.pane.element);
  }

  /** Shows a tab and moves the keyboard to it. */
  private select(tab: Tab): void {
    this.show(tab);
    tab.focus();
  }

  private show(tab: Tab): void {
    const previous = this.active;
    this.active = tab;
    tab.show();
    if (previous && previous !== tab) previous.hide();
    this.draw();
  }

  private draw(): void {
    this.strip.draw(this.tabs, this.active);
    this.sharing.refresh();
    this.empty.hidden = this.tabs.length > 0;
    this.tellVisible();
    this.showTitle();
    this.remember();
  }

  private remember(): void {
    const ids = this.tabs.flatMap((tab) => tab.id ?? []);
    tabOrder.save(ids, this.active?.id);
  }

  private tellVisible(): void {
    for (const tab of this.tabs) tab.setVisible(tab === this.active && document.visibilityState === 'visible');
  }

  private showTitle(): void {
    document.title = this.active ? `${this.active.label} · Tandem` : 'Tandem';
  }

  private async close(tab: Tab): Promise<void> {
    const id = tab.id;
    if (id === undefined) return; // not made yet
    if (tab.device !== undefined && !tab.exit && !tab.gone) {
      if (!(await ask('Close terminal?', `It leaves Tandem. The shell at ${tab.device} goes on there.`, 'Close terminal'))) {
        this.active?.focus();
        return;
      }
    } else if (!tab.exit && !tab.gone) {
      try {
        const info = await api.terminal(id);
        const what = info.foreground || 'A program';
        if (info.busy && !(await ask('Close terminal?', `${what} is still running, and ends with the terminal.`, 'Close terminal'))) {
          this.active?.focus();
          return;
        }
      } catch (err) {
        if (!(err instanceof ApiError && err.status === 404)) {
          this.report(err);
          return;
        }
      }
    }
    this.remove(tab);
    void this.end(tab);
  }

  /** Ends the terminal of a tab that was removed. The tab comes back if that does not work. */
  private async end({ resource, gone }: Tab): Promise<void> {
    if (resource === undefined || gone) return;
    try {
      await this.store.dispose(resource);
    } catch (err) {
      this.report(err);
      const terminal = this.store.terminals.get(resource);
      if (terminal) this.added(terminal);
    }
  }

  /** Takes a tab away. In the place of the active one comes its neighbour, by `instead`. */
  private remove(tab: Tab, instead = (next: Tab) => this.select(next)): void {
    const index = this.tabs.indexOf(tab);
    if (index < 0) return;
    this.tabs.splice(index, 1);
    tab.dispose();
    if (tab !== this.active) {
      this.draw();
      return;
    }
    this.active = undefined;
    const next = this.tabs[index] ?? this.tabs[index - 1];
    if (next) {
      instead(next);
    } else {
      this.draw();
      this.empty.querySelector('button')?.focus();
    }
  }

  private replace(tab: Tab): void {
    const index = this.tabs.indexOf(tab);
    const { cwd } = tab;
    this.start(cwd === '' ? {} : { cwd }, index + 1);
    this.remove(tab);
    void this.end(tab);
  }

  private async rename(tab: Tab): Promise<void> {
    const { resource } = tab;
    if (resource === undefined) return;
    const title = await askText('Rename terminal', 'Title', tab.title, 'Without one, the program names the terminal.');
    this.active?.focus();
    if (title === undefined || title === tab.title) return;
    try {
      await this.store.rename(resource, title);
    } catch (err) {
      this.report(err);
    }
  }

  private logIn(): Promise<void> {
    this.loggingIn ??= this.reLogIn().finally(() => (this.loggingIn = undefined));
    return this.loggingIn;
  }

  private async reLogIn(): Promise<void> {
    await askLogin('You were logged out. Your shells keep running.');
    this.wake();
    this.active?.focus();
  }

  /** The network or the login may be back. */
  private wake(): void {
    this.store.nudge();
    for (const tab of this.tabs) tab.nudge();
  }

  private report(err: unknown): void {
    if (err instanceof ApiError && err.status === 401) void this.logIn();
    else notify(err instanceof Error ? err.message : String(err));
  }

  private act(action: Action): void {
    const at = this.active ? this.tabs.indexOf(this.active) : -1;
    const go = (index: number) => {
      const tab = this.tabs[index];
      if (tab) this.select(tab);
    };
    if (typeof action === 'object') {
      go(action.goto);
      return;
    }
    switch (action) {
      case 'new':
        this.create();
        break;
      case 'close':
        if (this.active) void this.close(this.active);
        break;
      case 'next':
        go((at + 1) % this.tabs.length);
        break;
      case 'previous':
        go((at + this.tabs.length - 1) % this.tabs.length);
        break;
      case 'tabs':
        this.strip.focus();
        break;
      case 'menu':
        this.strip.openMenu();
        break;
      case 'clear':
        this.active?.clear();
        break;
      case 'takeBack':
        if (this.active) this.sharing.takeBack(this.active);
        break;
      case 'commands':
        if (this.active) this.commands.openList(this.active);
        break;
      case 'command':
        if (this.active) this.commands.openMenu(this.active);
        break;
      case 'nextCommand':
        if (this.active) this.commands.step(this.active, 1);
        break;
      case 'previousCommand':
        if (this.active) this.commands.step(this.active, -1);
        break;
      case 'requests':
        this.sharing.focusRequests();
        break;
      case 'pause':
        this.sharing.togglePause();
        break;
      case 'help':
        openHelp(this.session.version);
        break;
    }
  }

  private listen(): void {
    byId('new-tab').addEventListener('click', () => this.create());
    byId('help').addEventListener('click', () => openHelp(this.session.version));
    byId('settings').addEventListener('click', openSettings);
    byId('devices').addEventListener('click', () => openDevices(() => void this.logIn()));
    addEventListener('keydown', (event) => {
      const action = matchShortcut(event);
      if (!action || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      this.act(action);
    });
    const wake = () => this.wake();
    addEventListener('online', wake);
    addEventListener('offline', wake);
    addEventListener('pageshow', wake);
    document.addEventListener('resume', wake);
    document.addEventListener('visibilitychange', () => {
      this.tellVisible();
      if (document.visibilityState === 'visible') wake();
    });
  }
}

/** A program that ended well has no tab. */
function isShown({ exit }: Terminal): boolean {
  return exit?.code !== 0;
}
