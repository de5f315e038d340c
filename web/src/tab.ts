import { api, ApiError, laneAddress, type NewTerminal, type TerminalInfo } from './api.ts';
import { button } from './dom.ts';
import { Lane, Refused, type LaneState } from './lane/lane.ts';
import { notify } from './notices.ts';
import { Pane } from './pane.ts';
import { Status } from './status.ts';

/** What a tab tells the workbench. */
export interface TabEvents {
  /** The title or the state in the tab list is another one. */
  changed(tab: Tab): void;
  /** The program ended without an error. */
  finished(tab: Tab): void;
  /** No terminal could be made; the error says why. */
  notMade(tab: Tab, err: unknown): void;
  /** The person wants a new shell in the place of this tab. */
  replace(tab: Tab): void;
  /** The person wants the tab gone. */
  close(tab: Tab): void;
  needsLogin(): void;
  /** Returns whether the server was started anew since the tab was opened. */
  serverRestarted(boot: string): Promise<boolean>;
}

/** How a program ended. */
export interface Exit {
  code: number;
  signal: string | undefined;
}

let count = 0;

/** A tab: a terminal on the server, the pane that shows it and the lane between them. */
export class Tab {
  /** Distinguishes the tabs of this page, also before the server has named their terminals. */
  readonly key = `tab-${++count}`;
  readonly pane: Pane;
  /** How the program ended, once it has. */
  exit: Exit | undefined;
  /** Whether the server has no such terminal any more. */
  gone = false;
  private info: TerminalInfo | undefined;
  private readonly lane: Lane;
  private readonly status: Status;

  /** Shows a terminal that is there, or makes a new one. Call `dispose` when the tab goes. */
  constructor(
    terminal: TerminalInfo | { make: NewTerminal },
    private readonly events: TabEvents,
    private readonly boot: string, // the start of the server that the terminal belongs to
  ) {
    this.pane = new Pane({
      type: (keys) => this.input(() => this.lane.type(keys)),
      paste: (text) => this.input(() => this.lane.paste(text)),
      answer: (bytes) => this.input(() => this.lane.answer(bytes)),
      fits: (cols, rows) => {
        // An ended terminal has one size on each page: the bar below it must not cover its last words.
        if (this.exit || this.gone) this.pane.resize(cols, rows);
        else this.lane.setSize(cols, rows);
      },
    });
    this.pane.element.id = `${this.key}-panel`;
    this.pane.element.setAttribute('aria-labelledby', this.key);
    this.status = new Status(this.pane.element);
    let ticket: Promise<string> | undefined;
    if ('make' in terminal) ticket = this.make(terminal.make);
    else this.info = terminal;
    this.lane = new Lane(
      this.pane,
      { ticket: () => this.ticket(), open: (t, since) => new WebSocket(laneAddress(this.id!, t, since)) },
      {
        state: (state) => void this.showState(state),
        title: (title, cwd) => this.showTitle(title, cwd),
        writable: (writable) => this.status.readOnly(!writable),
        exit: (code, signal) => this.showExit({ code, signal }),
        error: notify,
        refused: () => this.refuse(),
        paste: (progress) => this.status.pasting(progress),
      },
      { visible: false, ticket },
    );
  }

  /** The server's name for the terminal; undefined until it is made. */
  get id(): string | undefined {
    return this.info?.id;
  }

  get title(): string {
    return this.info?.title || 'Shell';
  }

  /** The directory of the terminal, or '' while it is not known. */
  get cwd(): string {
    return this.info?.cwd ?? '';
  }

  /** Takes what the server lists about the terminal. */
  update(info: TerminalInfo): void {
    const retitled = info.title !== this.info?.title;
    this.info = info;
    if (retitled) this.events.changed(this);
  }

  /** Shows a title, and remembers the directory that came with it. */
  showTitle(title: string, cwd = this.cwd): void {
    if (this.info) this.info = { ...this.info, title, cwd };
    this.events.changed(this);
  }

  show(): void {
    this.pane.show();
  }

  hide(): void {
    this.pane.hide();
  }

  /** Says whether a person sees this tab now. */
  setVisible(visible: boolean): void {
    this.lane.setVisible(visible);
  }

  /** Moves the keyboard to the terminal, or to what covers it. */
  focus(): void {
    if (!this.status.focus()) this.pane.focus();
  }

  /** Drops the scrollback, for everybody who looks. */
  clear(): void {
    this.lane.clear();
  }

  /** The network or the login may be back. */
  nudge(): void {
    this.lane.nudge();
  }

  /** Ends the connection and leaves the page; the terminal lives on. */
  dispose(): void {
    this.lane.close();
    this.status.dispose();
    this.pane.dispose();
  }

  private async make(spec: NewTerminal): Promise<string> {
    await undefined; // by then the workbench shows the pane, and the shell can start with the size that fits
    return api.create({ ...spec, ...this.pane.fitting() }).then(
      ({ terminal, ticket }) => {
        this.update(terminal);
        return ticket;
      },
      (err: unknown) => {
        this.events.notMade(this, err);
        throw new Refused('gone');
      },
    );
  }

  private async ticket(): Promise<string> {
    try {
      return await api.ticket(this.id!);
    } catch (err) {
      if (err instanceof ApiError && err.status === 401) throw new Refused('login');
      if (err instanceof ApiError && err.status === 404) throw new Refused('gone');
      throw err;
    }
  }

  /** Sends input while there is a program to take it. */
  private input(send: () => void): void {
    if (!this.exit && !this.gone) send();
  }

  private refuse(): void {
    this.pane.shake();
    this.status.notSent();
  }

  private showExit(exit: Exit): void {
    this.exit = exit;
    this.status.disconnected(false);
    if (exit.code === 0 && exit.signal === undefined) {
      this.events.finished(this);
      return;
    }
    const how = exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
    this.status.ended(
      `The shell ${how}.`,
      button('Restart', () => this.events.replace(this), 'primary'),
      button('Close tab', () => this.events.close(this)),
    );
    this.events.changed(this);
  }

  private async showState(state: LaneState): Promise<void> {
    this.status.disconnected(state === 'waiting' && !this.exit, () => this.lane.nudge());
    if (state === 'login') {
      this.events.needsLogin();
    } else if (state === 'disposed') {
      this.showGone('This shell was closed elsewhere.');
    } else if (state === 'gone' && this.info) {
      this.showGone(
        (await this.events.serverRestarted(this.boot)) ? 'This shell ended with the server.' : 'This shell was closed elsewhere.',
      );
    }
  }

  private showGone(text: string): void {
    this.gone = true;
    if (this.exit) return; // how the program ended says more
    this.status.ended(
      this.cwd === '' ? text : `${text} A new one starts in ${this.cwd}.`,
      button('New shell', () => this.events.replace(this), 'primary'),
      button('Close tab', () => this.events.close(this)),
    );
    this.events.changed(this);
  }
}
