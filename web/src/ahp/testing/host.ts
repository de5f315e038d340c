import { ROOT, SHARING, type AnyAction, type Claim, type Lifecycle, type RootState, type Sharing, type SharingState } from '../types.ts';
import { FakeSocket, type Message } from './socket.ts';

/** What a test says about a terminal; the rest is made up. */
export interface FakeTerminal extends Partial<Sharing> {
  title?: string;
  claim?: Claim;
  lifecycle?: Lifecycle;
  executionTarget?: 'client';
}

/** An AHP host as far as a Store needs one. Its answers come at once, and to all its sockets. */
export class FakeHost {
  readonly sockets: FakeSocket[] = [];
  /** What the page asked for, in order; without the handshakes and pings. */
  readonly asked: { method: string; params: Record<string, unknown> }[] = [];
  /** When set, every action is rejected with it, and every request answered with an error that says so. */
  refuse: string | undefined;
  /** Whether reconnecting clients are known. */
  knows = true;
  private root: RootState = { agents: [], terminals: [] };
  private sharing: SharingState = { paused: false, terminals: {}, requests: [] };
  private seq = 1_000;
  private count = 0;

  /** Opens a socket to the host that the page will find open in a moment. */
  readonly open = (): WebSocket => {
    const socket = new FakeSocket();
    socket.answer = (message) => this.answer(socket, message);
    this.sockets.push(socket);
    queueMicrotask(() => {
      if (socket.state === 'opening') socket.open();
    });
    return socket.asWebSocket;
  };

  /** Adds a terminal, made by a program if nothing else is said. */
  add(terminal: FakeTerminal = {}, resource = `ahp-terminal:/made-${++this.count}`): string {
    const { title = 'Shell', claim = { kind: 'client', clientId: 'c1' }, lifecycle = { status: 'running' }, executionTarget, ...sharing } = terminal;
    const info = { resource, title, claim, lifecycle, ...(executionTarget && { executionTarget }) };
    this.tell(ROOT, { type: 'root/terminalsChanged', terminals: [...this.root.terminals!, info] });
    const shared: Sharing = {
      id: resource.slice(resource.indexOf('/') + 1),
      mode: 'watch',
      created: '2026-11-21T10:00:00Z',
      maker: { kind: 'program', name: 'claude' },
      holder: { kind: 'program', name: 'claude', client: 'c1' },
      watchers: [],
      ...sharing,
    };
    this.share({ terminals: { ...this.sharing.terminals, [resource]: shared } });
    return resource;
  }

  /** Changes what is said about a terminal. */
  change(resource: string, { title, claim, lifecycle, ...sharing }: FakeTerminal): void {
    const more = { ...(title !== undefined && { title }), ...(claim && { claim }), ...(lifecycle && { lifecycle }) };
    const terminals = this.root.terminals!.map((info) => (info.resource === resource ? { ...info, ...more } : info));
    if (Object.keys(more).length > 0) this.tell(ROOT, { type: 'root/terminalsChanged', terminals });
    const shared = { ...this.sharing.terminals[resource]!, ...sharing };
    if (Object.keys(sharing).length > 0) this.share({ terminals: { ...this.sharing.terminals, [resource]: shared } });
  }

  remove(resource: string): void {
    this.tell(ROOT, { type: 'root/terminalsChanged', terminals: this.root.terminals!.filter((info) => info.resource !== resource) });
    const { [resource]: _gone, ...terminals } = this.sharing.terminals;
    this.share({ terminals });
  }

  /** Changes the sharing state. */
  share(change: Partial<SharingState>): void {
    this.tell(SHARING, { type: 'sharing/changed', state: { ...this.sharing, ...change } });
  }

  /** Ends all connections as seen from the browser. */
  lose(code = 1006): void {
    for (const socket of this.sockets) if (socket.state === 'open') socket.end(code);
  }

  private tell(channel: string, action: AnyAction): void {
    if (action.type === 'root/terminalsChanged') this.root = { ...this.root, terminals: action['terminals'] as [] };
    if (action.type === 'sharing/changed') this.sharing = action['state'] as SharingState;
    const serverSeq = ++this.seq;
    for (const socket of this.sockets) {
      if (socket.state === 'open') socket.tell({ method: 'action', params: { channel, action, serverSeq } });
    }
  }

  private answer(socket: FakeSocket, { id, method = '', params = {} }: Message): void {
    const reply = (result: unknown) => socket.tell({ id, result });
    const snapshots = [
      { resource: ROOT, fromSeq: this.seq, state: this.root },
      { resource: SHARING, fromSeq: this.seq, state: this.sharing },
    ];
    switch (method) {
      case 'initialize':
        reply({ protocolVersion: '1.0.0', serverSeq: this.seq, snapshots });
        return;
      case 'reconnect':
        if (this.knows) reply({ type: 'snapshot', snapshots });
        else socket.tell({ id, error: { code: -32008, message: 'unknown client' } });
        return;
      case 'ping':
        reply(null);
        return;
    }
    this.asked.push({ method, params });
    if (method === 'dispatchAction') this.dispatched(socket, params);
    else if (this.refuse !== undefined) socket.tell({ id, error: { code: -32603, message: this.refuse } });
    else {
      const resource = String(params['channel']);
      if (method === 'createTerminal') {
        const { clientId } = params['claim'] as { clientId: string };
        const person = { kind: 'person', name: 'Firefox', client: clientId } as const;
        this.add({ claim: { kind: 'client', clientId }, mode: 'ask', maker: person, holder: person }, resource);
      } else if (method === 'disposeTerminal') {
        this.remove(resource);
      }
      reply(null);
    }
  }

  private dispatched(socket: FakeSocket, { channel, action, clientSeq }: Record<string, unknown>): void {
    if (this.refuse !== undefined) {
      const initialize = socket.sent.find((message) => message.method === 'initialize' || message.method === 'reconnect');
      const origin = { clientId: initialize?.params?.['clientId'], clientSeq };
      const params = { channel, action, serverSeq: ++this.seq, origin, rejectionReason: this.refuse };
      socket.tell({ method: 'action', params });
      return;
    }
    const asked = action as AnyAction;
    switch (asked.type) {
      case 'terminal/titleChanged':
        this.change(String(channel), { title: String(asked['title']) || 'Shell' });
        break;
      case 'terminal/claimed': {
        const claim = asked['claim'] as Claim & { kind: 'client' };
        this.change(String(channel), { claim, holder: { kind: 'person', name: 'Firefox', client: claim.clientId } });
        break;
      }
      case 'sharing/modeSet':
        this.change(String(asked['resource']), { mode: asked['mode'] as 'ask' });
        break;
      case 'sharing/pausedSet':
        this.share({ paused: asked['paused'] as boolean });
        break;
      case 'sharing/requestAnswered':
        this.share({ requests: this.sharing.requests.filter(({ id }) => id !== asked['request']) });
        break;
    }
  }
}
