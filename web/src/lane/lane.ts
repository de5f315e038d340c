import { Acks } from './acks.ts';
import { Backoff } from './backoff.ts';
import { parseFrame, type ClientFrame, type CommandFrame, type ServerFrame } from './frames.ts';
import { InputQueue, type PasteProgress, type TerminalAnswer } from './input.ts';

/** Where a lane's output goes. Calls take effect in the order they were made, though perhaps later. */
export interface Screen {
  /** Shows output; `done` is called when all of it is on the screen. */
  write(bytes: Uint8Array, done: () => void): void;
  /** Clears the screen, its scrollback and all modes. */
  reset(): void;
  resize(cols: number, rows: number): void;
  /** Drops the scrollback, keeping the screen. */
  clear(): void;
  /** Marks the place where a command started or ended: the cursor's. */
  command(frame: CommandFrame): void;
}

/** How a lane reaches the server. */
export interface Dialer {
  /** Gets a ticket. Throws a Refused when there is no use in trying again, anything else when there is. */
  ticket(): Promise<string>;
  /** Opens a socket that continues from offset `since`, or from the beginning without it. */
  open(ticket: string, since: number | undefined): WebSocket;
}

/** Says that a ticket is not to be had: the login ended, or the terminal is gone. */
export class Refused extends Error {
  constructor(readonly reason: 'login' | 'gone') {
    super(reason);
  }
}

/**
 * The life of a lane: connecting for the first time, live, waiting to reconnect, waiting for a login, or at its end:
 * gone (no such terminal) or disposed (closed by somebody while we looked).
 */
export type LaneState = 'connecting' | 'live' | 'waiting' | 'login' | 'gone' | 'disposed';

/** What a lane tells. */
export interface LaneEvents {
  state(state: LaneState): void;
  /** What the terminal is to be called, and its directory where that is known. */
  title(title: string, cwd: string | undefined): void;
  writable(writable: boolean): void;
  /** A command started or ended, before its place on the screen is known; `replayed` says that a replay tells of it. */
  command(frame: CommandFrame, replayed: boolean): void;
  /** The program ended; all its output was passed on before. */
  exit(code: number, signal: string | undefined): void;
  /** The server could not do something; `title` is for people. */
  error(title: string): void;
  /** The server did not take input, though the connection stands; `title` says why. */
  denied(title: string): void;
  /** Input was not sent, and will not be: typed while there was no connection, or lost with one. */
  refused(): void;
  /** A paste goes on, or, with undefined, there is none any more. */
  paste(progress: PasteProgress | undefined): void;
}

/** The close codes of the protocol that mean more than "try again". */
const DISPOSED = 1000;
const TOO_BIG = 1009;
const LOGIN_ENDED = 4401;

/** A connection that lasted so long was a good one: the next attempt after it is quick, in milliseconds. */
const GOOD_AFTER = 5_000;

/** How long the socket may take to open, and `ready` to come, in milliseconds. */
const OPEN_TIME = 10_000;

/** How long the server may be silent after a ping before the connection counts as dead, in milliseconds. */
const PONG_TIME = 4_000;

/** How often a connection is proven alive, in milliseconds. Browsers do not show the server's own pings. */
const PING_EVERY = 20_000;

/** How much may be typed before the first connection stands, in bytes. Nothing of it was sent before, so it can wait. */
const TYPE_AHEAD = 4_096;

/**
 * A viewer's connection to one terminal, across reconnects: it continues from the offset it has come to, so output is
 * neither lost nor doubled, and never sends input a second time.
 */
export class Lane {
  private state: LaneState = 'connecting';
  private socket: WebSocket | undefined;
  private input: InputQueue | undefined;
  private readonly acks = new Acks((offset) => this.send({ type: 'ack', offset }));
  private readonly backoff = new Backoff();
  /** The offset of the next byte, once there was a `ready`. */
  private offset: number | undefined;
  /** In a replay bytes are not the log's and do not count. */
  private replaying = false;
  private liveSince = 0;
  /** Counts attempts, so that answers to an abandoned one are not taken for news. */
  private attempt = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private deadline: ReturnType<typeof setTimeout> | undefined;
  private pingTimer: ReturnType<typeof setTimeout> | undefined;
  private visible: boolean;
  private size: { cols: number; rows: number } | undefined;
  private typedAhead: Uint8Array<ArrayBuffer>[] = [];
  /** What waits for a pong each; pongs come in the order of the pings. */
  private pongs: (() => void)[] = [];
  private firstTicket: Promise<string> | undefined;

  /** Starts connecting at once. `ticket` is the one that comes with a new terminal. */
  constructor(
    private readonly screen: Screen,
    private readonly dialer: Dialer,
    private readonly events: LaneEvents,
    options: { visible: boolean; ticket?: Promise<string> | undefined },
  ) {
    this.visible = options.visible;
    this.firstTicket = options.ticket;
    void this.connect();
  }

  /** Sends keys. A paste under way ends with them. */
  type(keys: Uint8Array<ArrayBuffer>): void {
    if (this.input) this.input.type(keys);
    else this.typeAhead(keys);
  }

  /** Sends a text of any size, in pieces that keys can get in front of. */
  paste(text: Uint8Array<ArrayBuffer>): void {
    if (this.input) this.input.paste(text);
    else this.typeAhead(text);
  }

  /** Sends an answer of the terminal itself to the program's question. Without a connection nobody waits for it. */
  answer(answer: TerminalAnswer): void {
    this.input?.answer(answer);
  }

  /** Says whether a person sees the terminal now. */
  setVisible(visible: boolean): void {
    if (visible === this.visible) return;
    this.visible = visible;
    if (this.state === 'live') this.send({ type: 'visible', visible });
  }

  /** Asks for a size in cells; the screen takes it when the server says so. */
  setSize(cols: number, rows: number): void {
    if (this.size?.cols === cols && this.size.rows === rows) return;
    this.size = { cols, rows };
    if (this.state === 'live') this.send({ type: 'resize', cols, rows });
  }

  /** Drops the scrollback, for everybody. */
  clear(): void {
    if (this.state === 'live') this.send({ type: 'clear' });
  }

  /**
   * Says that the network may have come or gone, or somebody logged in: connects at once where it waited, and tests a
   * connection that seems to stand.
   */
  nudge(): void {
    if (this.state === 'waiting' || this.state === 'login') {
      this.backoff.reset();
      void this.connect();
    } else if (this.state === 'live') {
      this.ping();
    }
  }

  /** Ends the connection for good. Nothing is told after it. */
  close(): void {
    this.attempt++;
    this.drop();
  }

  private typeAhead(bytes: Uint8Array<ArrayBuffer>): void {
    const ahead = this.typedAhead.reduce((sum, piece) => sum + piece.length, bytes.length);
    if (this.state === 'connecting' && ahead <= TYPE_AHEAD) this.typedAhead.push(bytes);
    else this.events.refused();
  }

  private async connect(): Promise<void> {
    this.drop();
    const attempt = ++this.attempt;
    const firstTicket = this.firstTicket;
    this.firstTicket = undefined;
    let ticket: string;
    try {
      ticket = await (firstTicket ?? this.dialer.ticket());
    } catch (err) {
      if (attempt !== this.attempt) return;
      if (err instanceof Refused) this.enter(err.reason);
      else this.retry();
      return;
    }
    if (attempt !== this.attempt) return;
    const socket = this.dialer.open(ticket, this.offset);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (typeof event.data === 'string') this.control(event.data, socket);
      else this.output(new Uint8Array(event.data), attempt);
    };
    socket.onclose = (event) => this.closed(event.code);
    this.socket = socket;
    this.deadline = setTimeout(() => this.closed(0), OPEN_TIME);
  }

  private output(bytes: Uint8Array, attempt: number): void {
    this.heard();
    if (this.offset === undefined) return; // before ready: not the protocol
    if (!this.replaying) this.offset += bytes.length;
    const offset = this.offset;
    this.screen.write(bytes, () => {
      if (attempt === this.attempt) this.acks.advance(offset);
    });
  }

  private control(text: string, socket: WebSocket): void {
    this.heard();
    const frame = parseFrame(text);
    if (frame === undefined) return;
    switch (frame.type) {
      case 'ready':
        this.ready(frame, socket);
        break;
      case 'reset':
        this.screen.reset();
        this.replaying = frame.replay;
        this.continueAt(frame.offset);
        break;
      case 'live':
        this.replaying = false;
        this.continueAt(frame.offset);
        break;
      case 'resize':
        this.screen.resize(frame.cols, frame.rows);
        break;
      case 'cleared':
        this.screen.clear();
        break;
      case 'title':
        this.events.title(frame.title, frame.cwd);
        break;
      case 'writable':
        this.events.writable(frame.writable);
        break;
      case 'command':
        this.events.command(frame, this.replaying);
        this.screen.command(frame);
        break;
      case 'exit':
        this.input?.close(); // nobody will read the rest of a paste
        // Behind the output, which may still be on its way to the screen.
        this.screen.write(new Uint8Array(), () => this.events.exit(frame.code, frame.signal));
        break;
      case 'error':
        this.failed(frame.title, frame.code);
        break;
      case 'pong':
        this.pongs.shift()?.();
        break;
    }
  }

  private ready(frame: ServerFrame & { type: 'ready' }, socket: WebSocket): void {
    clearTimeout(this.deadline);
    this.deadline = undefined;
    this.offset = frame.offset;
    this.replaying = false;
    this.liveSince = performance.now();
    this.screen.resize(frame.cols, frame.rows);
    this.input = new InputQueue(
      {
        send: (bytes) => socket.send(bytes),
        answer: (data) => this.send({ type: 'answer', data }),
        ping: (pong) => {
          this.pongs.push(pong);
          this.send({ type: 'ping' });
        },
      },
      (progress) => this.events.paste(progress),
    );
    this.acks.start(frame.offset);
    this.send({ type: 'visible', visible: this.visible });
    if (this.size && this.visible) this.send({ type: 'resize', ...this.size });
    for (const bytes of this.typedAhead.splice(0)) this.input.type(bytes);
    this.events.writable(frame.writable);
    this.enter('live');
    this.pingTimer = setTimeout(() => this.ping(), PING_EVERY);
  }

  private failed(title: string, code: string | undefined): void {
    if (code === 'exited') return; // the exit frame says it
    if (code === 'input_full' && this.input?.full()) return;
    if (code === 'refused' || code === 'read_only') this.events.denied(title);
    else this.events.error(title);
  }

  private continueAt(offset: number): void {
    this.offset = offset;
    const attempt = this.attempt;
    this.screen.write(new Uint8Array(), () => {
      if (attempt === this.attempt) this.acks.advance(offset);
    });
  }

  private closed(code: number): void {
    const wasLive = this.state === 'live';
    const lost = this.drop();
    if (code === DISPOSED) this.enter('disposed');
    else if (code === LOGIN_ENDED) this.enter('login');
    else {
      if (code === TOO_BIG) this.events.error('That was too much at once for the server.');
      if (wasLive && performance.now() - this.liveSince >= GOOD_AFTER) this.backoff.reset();
      this.retry();
    }
    if (lost > 0) this.events.refused();
  }

  private retry(): void {
    this.enter('waiting');
    this.retryTimer = setTimeout(() => void this.connect(), this.backoff.next());
  }

  /** Lets go of the socket and all timers, and returns how many bytes of input were not sent. */
  private drop(): number {
    clearTimeout(this.retryTimer);
    clearTimeout(this.deadline);
    clearTimeout(this.pingTimer);
    this.deadline = undefined;
    this.acks.stop();
    const socket = this.socket;
    this.socket = undefined;
    if (socket) {
      socket.onmessage = socket.onclose = null;
      socket.close();
    }
    const lost = this.input?.close() ?? 0;
    this.input = undefined;
    this.pongs = [];
    // Half a replay has left a screen that no offset stands for.
    if (this.replaying) this.offset = undefined;
    this.replaying = false;
    return lost;
  }

  /** Asks for a sign of life, and takes the connection for dead without one. */
  private ping(): void {
    if (this.deadline !== undefined) return;
    this.pongs.push(() => undefined); // any frame will do for an answer, see heard
    this.send({ type: 'ping' });
    this.deadline = setTimeout(() => this.closed(0), PONG_TIME);
  }

  /** Any frame proves a connection that stands alive. */
  private heard(): void {
    if (this.state !== 'live' || this.deadline === undefined) return;
    clearTimeout(this.deadline);
    this.deadline = undefined;
    clearTimeout(this.pingTimer);
    this.pingTimer = setTimeout(() => this.ping(), PING_EVERY);
  }

  private send(frame: ClientFrame): void {
    this.socket?.send(JSON.stringify(frame));
  }

  private enter(state: LaneState): void {
    if (state !== 'connecting' && this.typedAhead.splice(0).length > 0) this.events.refused();
    if (state === this.state) return;
    this.state = state;
    this.events.state(state);
  }
}
