import { readEnvelope } from '../../src/ahp/parse';
import { reduceRoot, reduceTerminal } from '../../src/ahp/reducers';
import { ROOT, type Action, type AnyAction, type Envelope, type RootState, type TerminalState, type URI } from '../../src/ahp/types';
import { expect } from 'vitest';
import type { Tandem } from './server';

/** The host's error answer to a request. */
export class RequestError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
  }
}

interface Waiting {
  resolve(result: unknown): void;
  reject(err: Error): void;
}

/** A program: a client of the server's AHP host that comes with a token of its own and knows what it was sent. */
export class Program {
  /** Everything that came, oldest first. */
  readonly envelopes: Envelope[] = [];
  private readonly requests = new Map<number, Waiting>();
  private readonly roots = new Map<URI, RootState>();
  private readonly states = new Map<URI, TerminalState>();
  private lastId = 0;
  private lastSeq = 0;

  private constructor(
    private readonly socket: WebSocket,
    /** The token's name and the client's. */
    readonly name: string,
  ) {
    socket.addEventListener('message', ({ data }) => this.receive(JSON.parse(String(data)) as Record<string, unknown>));
    socket.addEventListener('close', () => {
      for (const waiting of this.requests.values()) waiting.reject(new Error(`${name}: the connection is closed`));
    });
  }

  /** Makes a token and connects with it. A name can be used once for each server. */
  static async connect(tandem: Tandem, name: string): Promise<Program> {
    const token = await tandem.token(name);
    const socket = new WebSocket(`${tandem.url.replace(/^http/, 'ws')}/ahp?tkn=${encodeURIComponent(token)}`);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('close', (event) => reject(new Error(`${name}: closed with ${event.code} before it was open`)), { once: true });
    });
    const program = new Program(socket, name);
    const { snapshots } = (await program.request('initialize', {
      protocolVersions: ['1.0.0'],
      clientId: name,
      initialSubscriptions: [ROOT],
    })) as { snapshots: { resource: URI; state: RootState }[] };
    for (const { resource, state } of snapshots) program.roots.set(resource, state);
    return program;
  }

  /** The terminals that it is told of, in the host's order. */
  get terminals(): URI[] {
    return (this.roots.get(ROOT)?.terminals ?? []).map(({ resource }) => resource);
  }

  /** The text of a terminal that it subscribed to. */
  text(channel: URI): string {
    const parts = this.states.get(channel)?.content ?? [];
    return parts.map((part) => (part.type === 'command' ? part.output : part.value)).join('');
  }

  /** Whether it holds a terminal that it subscribed to. */
  holds(channel: URI): boolean {
    const claim = this.states.get(channel)?.claim;
    return claim?.kind === 'client' && claim.clientId === this.name;
  }

  /** Sends a request on a channel, the root's unless told. Rejects with a RequestError. */
  request(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.requests.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: { channel: ROOT, ...params } }));
    });
  }

  /** Subscribes to a terminal from its snapshot on. */
  async subscribe(channel: URI): Promise<void> {
    const { snapshot } = (await this.request('subscribe', { channel })) as { snapshot: { state: TerminalState } };
    this.states.set(channel, snapshot.state);
  }

  /** Makes a terminal that it holds, and subscribes to it. */
  async create(name?: string): Promise<URI> {
    const channel = `ahp-terminal:/${crypto.randomUUID()}`;
    await this.request('createTerminal', { channel, claim: { kind: 'client', clientId: this.name }, ...(name && { name }) });
    await this.subscribe(channel);
    return channel;
  }

  /** Dispatches an action, and resolves to why it was rejected, or to 'done' or 'ignored' when it was not. */
  async dispatch(channel: URI, action: Action): Promise<string> {
    const clientSeq = ++this.lastSeq;
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params: { channel, clientSeq, action } }));
    await this.request('ping'); // its answer comes behind what came of the action
    const own = this.envelopes.find(({ origin }) => origin?.clientId === this.name && origin.clientSeq === clientSeq);
    return own ? (own.rejectionReason ?? 'done') : 'ignored';
  }

  type(channel: URI, text: string): Promise<string> {
    return this.dispatch(channel, { type: 'terminal/input', data: text });
  }

  /** Claims a terminal once the person does not type any more, and resolves to why that was rejected, or to 'done'. */
  async claim(channel: URI, session?: URI): Promise<string> {
    const claim = session === undefined
      ? ({ kind: 'client', clientId: this.name } as const)
      : ({ kind: 'session', session, chat: `${session}/chat` } as const);
    let outcome = '';
    await expect.poll(async () => (outcome = await this.dispatch(channel, { type: 'terminal/claimed', claim })), { interval: 100 }).not.toContain('is typing');
    return outcome;
  }

  close(): void {
    this.socket.close();
  }

  private receive(message: Record<string, unknown>): void {
    const { id, result, error, method, params } = message;
    if (method === 'action') {
      this.apply(readEnvelope(params)!);
      return;
    }
    const waiting = this.requests.get(id as number);
    this.requests.delete(id as number);
    if (error) {
      const { code, message: text, data } = error as RequestError;
      waiting?.reject(new RequestError(code, text, data));
    } else {
      waiting?.resolve(result);
    }
  }

  private apply(envelope: Envelope): void {
    this.envelopes.push(envelope);
    if (envelope.rejectionReason !== undefined) return;
    const { channel, action }: { channel: URI; action: AnyAction } = envelope;
    const root = this.roots.get(channel);
    if (root) this.roots.set(channel, reduceRoot(root, action));
    const state = this.states.get(channel);
    if (state) this.states.set(channel, reduceTerminal(state, action));
  }
}
