import { api, ApiError, type NewTerminal, type Session, type TerminalInfo } from './api.ts';
import { ask, askText } from './dialog.ts';
import { openDevices } from './devices.ts';
import { button, byId, h } from './dom.ts';
import { openHelp } from './help.ts';
import { askLogin } from './login.ts';
import { notify } from './notices.ts';
import { openSettings } from './settings-dialog.ts';
import { matchShortcut, type Action } from './shortcuts.ts';
import { tabOrder } from './tab-order.ts';
import { Tab, type TabEvents } from './tab.ts';
import { TabStrip } from './tabstrip.ts';

/** The tabs of the page, and everything a person does with them. */
export class Workbench {
  private tabs: Tab[] = [];
  private active: Tab | undefined;
  /** Terminals that are being ended; a list the server made before that may still have them. */
  private readonly closing = new Set<string>();
  private readonly panes = byId('panes');
  private readonly empty: HTMLElement;
  private readonly strip: TabStrip;
  private readonly tabEvents: TabEvents;
  /** While the login form is shown, which all tabs share. */
  private loggingIn: Promise<void> | undefined;

  /** Shows the terminals that are there, and the page itself. Without any, a shell is started. */
  constructor(
    private session: Session,
    terminals: TerminalInfo[],
  ) {
    this.strip = new TabStrip({
      select: (tab) => this.select(tab),
      close: (tab) => void this.close(tab),
      rename: (tab) => void this.rename(tab),
      leave: () => this.active?.focus(),
    });
    this.tabEvents = {
      changed: (tab) => {
        this.strip.update(tab);
        this.remember();
        if (tab === this.active) this.showTitle();
      },
      finished: (tab) => this.remove(tab),
      notMade: (tab, err) => {
        this.remove(tab);
        this.report(err);
      },
      replace: (tab) => this.replace(tab),
      close: (tab) => void this.close(tab),
      needsLogin: () => void this.logIn(),
      serverRestarted: (boot) => this.serverRestarted(boot),
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
    for (const terminal of tabOrder.sort(terminals.filter(isShown))) this.insert(new Tab(terminal, this.tabEvents, this.session.boot));
    if (this.tabs.length === 0) this.create();
    else this.select(this.tabs.find((tab) => tab.id === tabOrder.active()) ?? this.tabs[0]!);
  }

  /** Starts a shell in a new tab behind the others. */
  create(): void {
    this.start({}, this.tabs.length);
  }

  /** Takes over changed settings and colours. */
  restyle(): void {
    for (const tab of this.tabs) tab.pane.restyle();
  }

  private start(spec: NewTerminal, index: number): void {
    const tab = new Tab({ make: spec }, this.tabEvents, this.session.boot);
    this.insert(tab, index);
    this.select(tab);
  }

  private insert(tab: Tab, index = this.tabs.length): void {
    this.tabs.splice(index, 0, tab);
    this.panes.append(tab.pane.element);
  }

  private select(tab: Tab): void {
    const previous = this.active;
    this.active = tab;
    tab.show();
    if (previous && previous !== tab) previous.hide();
    this.draw();
    tab.focus();
  }

  private draw(): void {
    this.strip.draw(this.tabs, this.active);
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
    document.title = this.active ? `${this.active.title} · Tandem` : 'Tandem';
  }

  private async close(tab: Tab): Promise<void> {
    const id = tab.id;
    if (id === undefined) return; // not made yet
    if (!tab.exit && !tab.gone) {
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
    if (!tab.gone) this.end(id);
  }

  /** Ends a terminal whose tab was removed. */
  private end(id: string): void {
    this.closing.add(id);
    api.dispose(id).then(
      () => this.closing.delete(id),
      (err: unknown) => {
        this.closing.delete(id);
        if (err instanceof ApiError && err.status === 404) return;
        this.report(err);
        void this.refresh();
      },
    );
  }

  private remove(tab: Tab): void {
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
      this.select(next);
    } else {
      this.draw();
      this.empty.querySelector('button')?.focus();
    }
  }

  private replace(tab: Tab): void {
    const index = this.tabs.indexOf(tab);
    const { cwd, id } = tab;
    this.start(cwd === '' ? {} : { cwd }, index + 1);
    this.remove(tab);
    if (id !== undefined && !tab.gone) this.end(id);
  }

  private async rename(tab: Tab): Promise<void> {
    if (tab.id === undefined) return;
    const title = await askText('Rename terminal', 'Title', tab.title, 'Without one, the program names the terminal.');
    this.active?.focus();
    if (title === undefined || title === tab.title) return;
    try {
      await api.rename(tab.id, title);
      if (title !== '') tab.showTitle(title);
      await this.refresh();
    } catch (err) {
      this.report(err);
    }
  }

  /** Takes the server's list: other devices' new tabs, and what became of ours. */
  private async refresh(): Promise<void> {
    let terminals: TerminalInfo[];
    try {
      terminals = await api.terminals();
    } catch (err) {
      if (err instanceof ApiError && err.status === 401) void this.logIn();
      return; // the tabs themselves say that the network is away
    }
    const making = this.tabs.some((tab) => tab.id === undefined);
    for (const terminal of terminals) {
      const tab = this.tabs.find((t) => t.id === terminal.id);
      if (tab) tab.update(terminal);
      else if (!making && isShown(terminal) && !this.closing.has(terminal.id)) this.insert(new Tab(terminal, this.tabEvents, this.session.boot));
    }
    if (this.active) this.draw();
    else if (this.tabs[0]) this.select(this.tabs[0]);
  }

  private logIn(): Promise<void> {
    this.loggingIn ??= this.reLogIn().finally(() => (this.loggingIn = undefined));
    return this.loggingIn;
  }

  private async reLogIn(): Promise<void> {
    await askLogin('You were logged out. Your shells keep running.');
    for (const tab of this.tabs) tab.nudge();
    await this.refresh();
    this.active?.focus();
  }

  private async serverRestarted(boot: string): Promise<boolean> {
    try {
      this.session = await api.session();
      return this.session.boot !== boot;
    } catch {
      return false;
    }
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
      case 'clear':
        this.active?.clear();
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
    const wake = () => {
      for (const tab of this.tabs) tab.nudge();
    };
    addEventListener('online', wake);
    addEventListener('offline', wake);
    addEventListener('pageshow', wake);
    document.addEventListener('resume', wake);
    document.addEventListener('visibilitychange', () => {
      this.tellVisible();
      if (document.visibilityState === 'visible') wake();
    });
    addEventListener('focus', () => void this.refresh());
  }
}

/** A program that ended well has no tab. */
function isShown(terminal: TerminalInfo): boolean {
  return terminal.exit_code === null || terminal.exit_code !== 0 || terminal.signal !== undefined;
}
