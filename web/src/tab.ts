import type { Creation, Terminal } from './ahp/store.ts';
import type { Holder, URI } from './ahp/types.ts';
import { api, ApiError, laneAddress } from './api.ts';
import { nameOfCommand, outcomeOf, type Command } from './commands/command.ts';
import { labelOf } from './commands/label.ts';
import { CommandLog } from './commands/log.ts';
import { LONG, notifyEnd } from './commands/notifier.ts';
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
  /** The person pressed the mark of a command. */
  mark(tab: Tab, id: string, mark: HTMLElement): void;
  /** The person wants to see the tab. */
  show(tab: Tab): void;
  needsLogin(): void;
}

/** Starts the terminal of a new tab, with this size where it is known. */
export type Make = (size: { cols: number; rows: number } | undefined) => Creation;

/** How a program ended. */
export interface Exit {
  code: number;
  signal: string | undefined;
}

/** A command that ends sooner than this does not change the tab's title, in milliseconds. */
const SOON = 700;

let count = 0;

/** A tab: a terminal on the server, the pane that shows it and the lane between them. */
export class Tab {
  /** Distinguishes the tabs of this page, also before the server has named their terminals. */
  readonly key = `tab-${++count}`;
  readonly pane: Pane;
  /** What the shell ran. */
  readonly commands: CommandLog;
  /** Whether a long command ended here that nobody saw, and how. */
  news: 'ok' | 'failed' | undefined;
  /** How the program ended, once it has. */
  exit: Exit | undefined;
  /** Whether the server has no such terminal any more. */
  gone = false;
  /** The terminal's name at the host, from when it is asked for. */
  resource: URI | undefined;
  /** The server's name for the terminal; undefined until it is made. */
  id: string | undefined;
  /** The directory of the terminal, or '' while it is not known. */
  cwd = '';
  /** The device at which the shell runs, where the server does not run it itself. Only typing there reaches it. */
  device: string | undefined;
  private name = '';
  private writable = true;
  private seen = false;
  private soon: ReturnType<typeof setTimeout> | undefined;
  private running: Command | undefined;
  private readonly lane: Lane;
  private readonly status: Status;

  /** Shows a terminal that is there, or makes a new one. Call `dispose` when the tab goes. */
  constructor(
    terminal: Terminal | Make,
    private readonly events: TabEvents,
  ) {
    this.commands = new CommandLog({
      changed: () => this.followCommand(),
      ended: (command) => this.tellEnd(command),
    });
    this.pane = new Pane({
      type: (keys) => this.input(() => this.lane.type(keys)),
      paste: (text) => this.input(() => this.lane.paste(text)),
      answer: (answer) => {
        if (this.runs && this.device === undefined) this.lane.answer(answer);
      },
      mark: (id, mark) => this.events.mark(this, id, mark),
      fits: (cols, rows) => {
        if (this.device !== undefined) return; // the size is the device's
        // An ended terminal has one size on each page: the bar below it must not cover its last words.
        if (this.runs) this.lane.setSize(cols, rows);
        else this.pane.resize(cols, rows);
      },
    }, this.commands);
    this.pane.element.id = `${this.key}-panel`;
    this.pane.element.setAttribute('aria-labelledby', this.key);
    this.status = new Status(this.pane.element);
    let ticket: Promise<string> | undefined;
    if (typeof terminal === 'function') ticket = this.make(terminal);
    else this.take(terminal);
    this.lane = new Lane(
      this.pane,
      { ticket: () => this.ticket(), open: (t, since) => new WebSocket(laneAddress(this.id!, t, since)) },
      {
        state: (state) => this.showState(state),
        title: (title, cwd) => this.showTitle(title, cwd ?? this.cwd),
        writable: (writable) => this.showWritable(writable),
        command: (frame, replayed) => this.commands.take(frame, replayed),
        exit: (code, signal) => this.showExit({ code, signal }),
        error: notify,
        denied: (why) => this.refuse(why),
        refused: () => this.refuse('the connection was lost'),
        paste: (progress) => this.status.pasting(progress),
      },
      { visible: false, ticket },
    );
  }

  get title(): string {
    return this.name || 'Shell';
  }

  /** The title, with the command that runs unless somebody named the terminal. */
  get label(): string {
    return this.running ? labelOf(this.title, nameOfCommand(this.running)) : this.title;
  }

  /** The name of the command that runs, once it has run for a moment. */
  get runningName(): string | undefined {
    return this.running && nameOfCommand(this.running);
  }

  /** Whether the person may run a command here now: the shell waits for one. */
  get mayRun(): boolean {
    return this.runs && this.writable && this.device === undefined && !this.commands.running;
  }

  /** Types a command line and Enter, in place of what was typed before. */
  run(line: string): void {
    if (this.mayRun) this.input(() => this.lane.type(this.pane.keysFor(line)));
  }

  /** Takes what the host says about the terminal now. */
  update(terminal: Terminal): void {
    const { id, name } = this;
    this.take(terminal);
    if (this.id !== id || this.name !== name) this.events.changed(this);
  }

  /** Shows that the terminal went with the server; what is on the screen can still be read. */
  endWithServer(): void {
    this.gone = true;
    this.stopRunning();
    this.lane.close();
    this.status.disconnected(false);
    if (this.exit) return; // how the program ended says more
    const text = 'This shell ended with the server.';
    this.status.ended(
      this.cwd === '' ? text : `${text} A new one starts in ${this.cwd}.`,
      button('New shell', () => this.events.replace(this), 'primary'),
      button('Close tab', () => this.events.close(this)),
    );
    this.events.changed(this);
  }

  /** Says which program or session drives the terminal, and whether programs are paused; undefined when a person drives. */
  heldBy(holder: Holder | undefined, paused: boolean, takeBack: () => void): void {
    this.status.heldBy(holder, paused, takeBack);
  }

  show(): void {
    this.pane.show();
  }

  hide(): void {
    this.pane.hide();
  }

  /** Says whether a person sees this tab now. */
  setVisible(visible: boolean): void {
    this.seen = visible;
    this.lane.setVisible(visible);
    if (!visible || !this.news) return;
    this.news = undefined;
    this.events.changed(this);
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
    clearTimeout(this.soon);
    this.lane.close();
    this.status.dispose();
    this.pane.dispose();
  }

  /** Whether there is a program to take input. */
  private get runs(): boolean {
    return !this.exit && !this.gone;
  }

  private take({ resource, id, title, device }: Terminal): void {
    this.resource = resource;
    this.id = id;
    this.name = title;
    if (device === this.device) return;
    this.device = device;
    this.pane.element.classList.toggle('remote', device !== undefined);
    this.status.runsAt(device);
  }

  private async make(make: Make): Promise<string> {
    await undefined; // by then the workbench shows the pane, and the shell can start with the size that fits
    const creation = make(this.pane.fitting());
    this.resource = creation.resource;
    try {
      this.update(await creation.terminal);
    } catch (err) {
      this.events.notMade(this, err);
      throw new Refused('gone');
    }
    return this.ticket();
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

  private input(send: () => void): void {
    if (!this.runs) return;
    if (this.device !== undefined) this.refuse(`the shell runs at ${this.device}, and takes keys only there`);
    else if (this.writable) send();
    else this.pane.shake(); // the status says why
  }

  private refuse(why: string): void {
    this.pane.shake();
    this.status.notSent(why);
  }

  private showWritable(writable: boolean): void {
    this.writable = writable;
    this.status.readOnly(!writable);
  }

  private showTitle(title: string, cwd: string): void {
    this.name = title;
    this.cwd = cwd;
    this.events.changed(this);
  }

  /** Shows the command that runs in the tab's title, unless it ends soon. */
  private followCommand(): void {
    const running = this.runs ? this.commands.running : undefined;
    if (running?.id === this.running?.id && running) return;
    clearTimeout(this.soon);
    this.soon = undefined;
    if (this.running) {
      this.running = undefined;
      this.events.changed(this);
    }
    if (!running) return;
    this.soon = setTimeout(() => {
      this.running = running;
      this.events.changed(this);
    }, SOON);
  }

  private stopRunning(): void {
    clearTimeout(this.soon);
    this.running = undefined;
  }

  private tellEnd(command: Command): void {
    if (this.seen || (command.end?.duration ?? 0) < LONG) return;
    this.news = outcomeOf(command) === 'failed' ? 'failed' : 'ok';
    this.events.changed(this);
    if (this.id !== undefined) notifyEnd(command, { id: this.id, title: this.title }, () => this.events.show(this));
  }

  private showExit(exit: Exit): void {
    this.exit = exit;
    this.stopRunning();
    this.status.disconnected(false);
    if (exit.code === 0 && exit.signal === undefined) {
      this.events.finished(this);
      return;
    }
    if (this.device !== undefined) {
      const text = exit.code === -1 ? `${this.device} is gone, or does not share its shell any more.` : `The shell at ${this.device} exited with code ${exit.code}.`;
      this.status.ended(text, button('Close tab', () => this.events.close(this)));
      this.events.changed(this);
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

  private showState(state: LaneState): void {
    // A terminal that is gone leaves by what the host lists; until that is heard, the connection is away.
    const away = state === 'waiting' || state === 'gone' || state === 'disposed';
    this.status.disconnected(away && !this.exit, () => this.lane.nudge());
    if (state === 'login') this.events.needsLogin();
  }
}
