import { Backoff } from '../lane/backoff.ts';
import { Connection } from './connection.ts';
import { Lost, Refusal, RpcError } from './errors.ts';
import { readEnvelope, readFields, readSnapshot, isInteger } from './parse.ts';
import { ROOT, type Action, type AnyAction, type Snapshot, type URI } from './types.ts';

/** The versions of the protocol that the page speaks. */
const VERSIONS = ['1.0.0'];

/** How a client reaches the host. */
export interface Dialer {
  /** Asks which client id the login gives, undefined when there is no login. Throws when trying again may help. */
  identify(): Promise<string | undefined>;
  open(): WebSocket;
}

/** Connecting for the first time, live, waiting to reconnect, or waiting for a login. */
export type ClientState = 'connecting' | 'live' | 'waiting' | 'login';

/** What a client tells. */
export interface ClientEvents {
  state(state: ClientState): void;
  /** The channel's state is this one now, whatever it was before. */
  snapshot(snapshot: Snapshot): void;
  /** What happened on a channel since its snapshot: each action once, in order. */
  action(channel: URI, action: AnyAction): void;
  /** The channel is not there any more, or not for us. */
  missing(channel: URI): void;
}

/** The close code of the host that means more than "try again". */
const LOGIN_ENDED = 4401;

/** A connection that lasted so long was a good one: the next attempt after it is quick, in milliseconds. */
const GOOD_AFTER = 5_000;

/** How long the socket may take to open, and the host to say what is there, in milliseconds. */
const OPEN_TIME = 10_000;

/** How long the host may be silent after a ping before the connection counts as dead, in milliseconds. */
const PONG_TIME = 4_000;

/** How often a silent connection is proven alive, in milliseconds. Browsers do not show the server's own pings. */
const PING_EVERY = 20_000;

/**
 * A client of an AHP host that keeps its subscriptions across lost connections: it asks for what it has missed, and gets
 * that or the whole state. It never sends a request or an action a second time.
 */
export class AhpClient {
  private state: ClientState = 'connecting';
  private id: string;
  private connection: Connection | undefined;
  private readonly backoff = new Backoff();
  /** The number of the last action on each channel that we have. */
  private readonly seen = new Map<URI, number>();
  /** Everything on those channels up to this number was seen. */
  private lastSeen = 0;
  private lastClientSeq = 0;
  /** What was dispatched and may be rejected yet, by clientSeq. */
  private readonly dispatched = new Map<number, (err: Refusal) => void>();
  private liveSince = 0;
  /** Counts attempts, so that answers to an abandoned one are not taken for news. */
  private attempt = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private deadline: ReturnType<typeof setTimeout> | undefined;
  private pingTimer: ReturnType<typeof setTimeout> | undefined;

  /** Starts connecting at once, under the client id that the login gave. */
  constructor(
    private readonly dialer: Dialer,
    private readonly events: ClientEvents,
    private readonly subscriptions: readonly URI[],
    clientId: string,
  ) {
    this.id = clientId;
    this.open();
  }

  get clientId(): string {
    return this.id;
  }

  /** Sends a request. Rejects with an RpcError, a Timeout or a Lost. */
  request(method: string, params: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.state === 'live' && this.connection) this.connection.request(method, params, { resolve, reject });
      else reject(new Lost());
    });
  }

  /**
   * Asks for an action on a channel, subscribed or not. Resolves when the host has taken it and all that followed from
   * it has arrived here; rejects with a Refusal, a Timeout or a Lost.
   */
  async dispatch(channel: URI, action: Action): Promise<void> {
    if (this.state !== 'live' || !this.connection) throw new Lost();
    const clientSeq = this.nextClientSeq();
    const rejected = new Promise<never>((_resolve, reject) => this.dispatched.set(clientSeq, reject));
    this.connection.notify('dispatchAction', { channel, clientSeq, action });
    try {
      // An action has no answer where its channel is not subscribed or its effect is another action; a ping always has
      // one, and the host answers it after all that came before.
      await Promise.race([rejected, this.request('ping', { channel: ROOT })]);
    } finally {
      this.dispatched.delete(clientSeq);
    }
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

  /**
   * All windows of a browser are one client, so a number must be new among them too, and above those that the host has
   * seen: the clock, in microseconds, the last three digits random.
   */
  private nextClientSeq(): number {
    const now = Date.now() * 1_000 + Math.floor(Math.random() * 1_000);
    return (this.lastClientSeq = Math.max(now, this.lastClientSeq + 1));
  }

  private async connect(): Promise<void> {
    this.drop();
    const attempt = ++this.attempt;
    let id: string | undefined;
    try {
      id = await this.dialer.identify();
    } catch {
      if (attempt === this.attempt) this.retry();
      return;
    }
    if (attempt !== this.attempt) return;
    if (id === undefined) {
      this.enter('login');
      return;
    }
    if (id !== this.id) this.seen.clear(); // a client that the host has not seen
    this.id = id;
    this.open();
  }

  private open(): void {
    const connection = new Connection(this.dialer.open(), {
      opened: () => {
        if (this.subscriptions.every((channel) => this.seen.has(channel))) this.reconnect(connection);
        else this.initialize(connection);
      },
      heard: () => this.heard(),
      notification: (method, params) => {
        if (method === 'action') this.receive(params);
      },
      closed: (code) => this.closed(code),
    });
    this.connection = connection;
    this.deadline = setTimeout(() => this.closed(0), OPEN_TIME);
  }

  private initialize(connection: Connection): void {
    const params = { channel: ROOT, protocolVersions: VERSIONS, clientId: this.id, initialSubscriptions: this.subscriptions };
    connection.request('initialize', params, {
      resolve: (result) => {
        const fields = readFields(result);
        const seq = fields?.['serverSeq'];
        if (!isInteger(seq) || !Array.isArray(fields?.['snapshots'])) {
          this.closed(0);
          return;
        }
        this.lastSeen = seq; // also a lower one: the host may be another
        this.restore(fields['snapshots']);
        this.live(connection);
      },
      reject: (err) => {
        if (!(err instanceof Lost)) this.closed(0);
      },
    });
  }

  private reconnect(connection: Connection): void {
    const params = { channel: ROOT, clientId: this.id, lastSeenServerSeq: this.lastSeen, subscriptions: this.subscriptions };
    connection.request('reconnect', params, {
      resolve: (result) => {
        const fields = readFields(result);
        if (fields?.['type'] === 'replay' && Array.isArray(fields['actions'])) {
          for (const action of fields['actions']) this.receive(action);
          this.miss(fields['missing']);
        } else if (fields?.['type'] === 'snapshot' && Array.isArray(fields['snapshots'])) {
          this.restore(fields['snapshots']);
        } else {
          this.seen.clear(); // so that the next attempt starts afresh
          this.closed(0);
          return;
        }
        this.live(connection);
      },
      reject: (err) => {
        if (err instanceof RpcError) this.initialize(connection);
      },
    });
  }

  /** Takes the snapshots that replace all there was. */
  private restore(list: unknown[]): void {
    const snapshots = list.flatMap((item) => readSnapshot(item) ?? []).filter(({ resource }) => this.subscriptions.includes(resource));
    this.seen.clear();
    for (const snapshot of snapshots) {
      this.seen.set(snapshot.resource, snapshot.fromSeq);
      this.lastSeen = Math.max(this.lastSeen, snapshot.fromSeq);
      this.events.snapshot(snapshot);
    }
    this.miss(this.subscriptions.filter((channel) => !this.seen.has(channel)));
  }

  private miss(channels: unknown): void {
    if (!Array.isArray(channels)) return;
    for (const channel of this.subscriptions.filter((subscribed) => channels.includes(subscribed))) {
      this.seen.delete(channel);
      this.events.missing(channel);
    }
  }

  private live(connection: Connection): void {
    if (connection !== this.connection) return; // closed by who was told of the state
    clearTimeout(this.deadline);
    this.deadline = undefined;
    this.liveSince = performance.now();
    this.pingTimer = setTimeout(() => this.ping(), PING_EVERY);
    this.enter('live');
  }

  private receive(params: unknown): void {
    const envelope = readEnvelope(params);
    if (!envelope) return;
    const { channel, action, serverSeq, origin, rejectionReason } = envelope;
    if (rejectionReason !== undefined) {
      if (origin?.clientId === this.id) this.dispatched.get(origin.clientSeq)?.(new Refusal(rejectionReason || 'The server refused that.'));
    } else {
      const seen = this.seen.get(channel);
      if (seen === undefined || serverSeq <= seen) return;
      this.seen.set(channel, serverSeq);
      this.events.action(channel, action);
    }
    this.lastSeen = Math.max(this.lastSeen, serverSeq);
  }

  private closed(code: number): void {
    const wasLive = this.state === 'live';
    this.drop();
    if (code === LOGIN_ENDED) {
      this.enter('login');
      return;
    }
    if (wasLive && performance.now() - this.liveSince >= GOOD_AFTER) this.backoff.reset();
    this.retry();
  }

  private retry(): void {
    this.enter('waiting');
    this.retryTimer = setTimeout(() => void this.connect(), this.backoff.next());
  }

  /** Lets go of the socket and all timers. */
  private drop(): void {
    clearTimeout(this.retryTimer);
    clearTimeout(this.deadline);
    clearTimeout(this.pingTimer);
    this.deadline = undefined;
    const connection = this.connection;
    this.connection = undefined;
    connection?.close();
  }

  /** Asks for a sign of life, and takes the connection for dead without one. */
  private ping(): void {
    if (this.deadline !== undefined) return;
    this.deadline = setTimeout(() => this.closed(0), PONG_TIME);
    const reply = { resolve: () => undefined, reject: () => undefined }; // any message will do for an answer, see heard
    this.connection?.request('ping', { channel: ROOT }, reply);
  }

  /** Any message proves a connection that stands alive. */
  private heard(): void {
    if (this.state !== 'live') return;
    clearTimeout(this.deadline);
    this.deadline = undefined;
    clearTimeout(this.pingTimer);
    this.pingTimer = setTimeout(() => this.ping(), PING_EVERY);
  }

  private enter(state: ClientState): void {
    if (state === this.state && state !== 'login') return; // who was asked for a login is asked again
    this.state = state;
    this.events.state(state);
  }
}
