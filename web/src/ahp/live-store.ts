import { AhpClient, type ClientState } from './client.ts';
import { Refusal } from './errors.ts';
import { readRootState, readSharingState } from './parse.ts';
import { reduceRoot, reduceSharing } from './reducers.ts';
import type { Creation, NewTerminal, Removal, Store, StoreEvents, Terminal } from './store.ts';
import {
  ROOT,
  SHARING,
  type Action,
  type Answer,
  type AnyAction,
  type ConsentRequest,
  type Mode,
  type RootState,
  type Sharing,
  type SharingState,
  type Snapshot,
  type TerminalInfo,
  type URI,
} from './types.ts';

/** Who is logged in, and at which start of the server. */
export interface Identity {
  clientId: string;
  boot: string;
}

/** How a store reaches the host. */
export interface StoreDialer {
  /** Asks who is logged in, undefined when nobody is. Throws when trying again may help. */
  identify(): Promise<Identity | undefined>;
  open(): WebSocket;
}

/** The most columns or rows that the host lets a terminal start with. */
const MOST_CELLS = 1_000;

const NO_ROOT: RootState = { agents: [], terminals: [] };
const NO_SHARING: SharingState = { paused: false, terminals: {}, requests: [] };

/** A Store that is a client of an AHP host. */
export class LiveStore implements Store {
  terminals: ReadonlyMap<URI, Terminal> = new Map();
  connected = false;
  private root = NO_ROOT;
  private sharing = NO_SHARING;
  /** The start of the server that answered last, and the one that `terminals` is from. */
  private boot: string;
  private shownBoot: string;
  private readonly listeners = new Set<Partial<StoreEvents>>();
  private readonly client: AhpClient;

  /** Starts connecting at once, as `identity`. */
  constructor(dialer: StoreDialer, identity: Identity) {
    this.boot = this.shownBoot = identity.boot;
    const identify = async () => {
      const found = await dialer.identify();
      if (found) this.boot = found.boot;
      return found?.clientId;
    };
    this.client = new AhpClient(
      { identify, open: () => dialer.open() },
      {
        state: (state) => this.enter(state),
        snapshot: (snapshot) => this.restore(snapshot),
        action: (channel, action) => this.reduce(channel, action),
        missing: (resource) => this.restore({ resource, state: undefined, fromSeq: 0 }),
      },
      [ROOT, SHARING],
      identity.clientId,
    );
  }

  get clientId(): string {
    return this.client.clientId;
  }

  get requests(): readonly ConsentRequest[] {
    return this.sharing.requests;
  }

  get paused(): boolean {
    return this.sharing.paused;
  }

  listen(events: Partial<StoreEvents>): () => void {
    this.listeners.add(events);
    return () => this.listeners.delete(events);
  }

  create(spec: NewTerminal): Creation {
    const resource = `ahp-terminal:/${randomName()}`;
    return { resource, terminal: this.make(resource, spec) };
  }

  rename(resource: URI, title: string): Promise<void> {
    return this.client.dispatch(resource, { type: 'terminal/titleChanged', title });
  }

  async dispose(resource: URI): Promise<void> {
    await this.client.request('disposeTerminal', { channel: resource });
  }

  claim(resource: URI): Promise<void> {
    return this.client.dispatch(resource, { type: 'terminal/claimed', claim: { kind: 'client', clientId: this.clientId } });
  }

  setMode(resource: URI, mode: Mode): Promise<void> {
    return this.share({ type: 'sharing/modeSet', resource, mode });
  }

  setPaused(paused: boolean): Promise<void> {
    return this.share({ type: 'sharing/pausedSet', paused });
  }

  answer(request: string, answer: Answer): Promise<void> {
    return this.share({ type: 'sharing/requestAnswered', request, answer });
  }

  nudge(): void {
    this.client.nudge();
  }

  close(): void {
    this.listeners.clear();
    this.client.close();
  }

  private share(action: Action): Promise<void> {
    return this.client.dispatch(SHARING, action);
  }

  private async make(resource: URI, { cwd, cols, rows }: NewTerminal): Promise<Terminal> {
    await this.client.request('createTerminal', {
      channel: resource,
      claim: { kind: 'client', clientId: this.clientId },
      ...(cwd !== undefined && { cwd: fileURI(cwd) }),
      ...(cols !== undefined && { cols: Math.min(cols, MOST_CELLS) }),
      ...(rows !== undefined && { rows: Math.min(rows, MOST_CELLS) }),
    });
    // The host lists a terminal before it answers; one that is not there was ended between.
    const terminal = this.terminals.get(resource);
    if (!terminal) throw new Refusal('The terminal was closed at once.');
    return terminal;
  }

  private enter(state: ClientState): void {
    const connected = state === 'live';
    if (connected !== this.connected) {
      this.connected = connected;
      this.tell('connected', connected);
    }
    if (state === 'login') this.tell('needsLogin');
  }

  private restore({ resource, state }: Snapshot): void {
    if (resource === ROOT) this.show(readRootState(state) ?? NO_ROOT, this.sharing);
    else this.show(this.root, readSharingState(state) ?? NO_SHARING);
  }

  private reduce(channel: URI, action: AnyAction): void {
    if (channel === ROOT) this.show(reduceRoot(this.root, action), this.sharing);
    else this.show(this.root, reduceSharing(this.sharing, action));
  }

  /** Takes new states, and tells how they differ from those before. */
  private show(root: RootState, sharing: SharingState): void {
    const before = { terminals: this.terminals, sharing: this.sharing };
    const why: Removal = this.boot === this.shownBoot ? 'disposed' : 'restarted';
    this.shownBoot = this.boot;
    this.root = root;
    this.sharing = sharing;
    this.terminals = join(root.terminals ?? [], sharing.terminals, before.terminals);
    for (const [resource, terminal] of before.terminals) {
      if (!this.terminals.has(resource)) this.tell('removed', terminal, why);
    }
    for (const [resource, terminal] of this.terminals) {
      const old = before.terminals.get(resource);
      if (!old) this.tell('added', terminal);
      else if (old !== terminal) this.tell('changed', terminal, old);
    }
    if (!same(before.sharing.requests, sharing.requests)) this.tell('requests', sharing.requests);
    if (before.sharing.paused !== sharing.paused) this.tell('paused', sharing.paused);
  }

  private tell<K extends keyof StoreEvents>(name: K, ...about: Parameters<StoreEvents[K]>): void {
    for (const listener of [...this.listeners]) {
      (listener[name] as ((...about: Parameters<StoreEvents[K]>) => void) | undefined)?.(...about);
    }
  }
}

/** Joins what the two channels say. A terminal is there once both have it; one that is as before is the same object. */
function join(list: readonly TerminalInfo[], shared: Record<URI, Sharing>, before: ReadonlyMap<URI, Terminal>): ReadonlyMap<URI, Terminal> {
  const joined = new Map<URI, Terminal>();
  for (const info of list) {
    const sharing = Object.hasOwn(shared, info.resource) ? shared[info.resource] : undefined;
    if (!sharing) continue;
    const { resource, title, claim, lifecycle, executionTarget } = info;
    const { id, mode, created, maker, holder, watchers } = sharing;
    const exit = lifecycle?.status === 'exited' ? { code: lifecycle.exitCode } : undefined;
    const device = executionTarget === 'client' ? holder.name || 'another device' : undefined;
    const terminal: Terminal = { resource, id, title, exit, claim, device, mode, created, maker, holder, watchers };
    const old = before.get(resource);
    joined.set(resource, old && same(old, terminal) ? old : terminal);
  }
  return joined;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A name that nothing else has: 128 random bits. randomUUID is not there on plain HTTP. */
function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns an absolute path as a URI (RFC 8089). */
function fileURI(path: string): string {
  return `file://${path.split('/').map(encodeURIComponent).join('/')}`;
}
