import type { Answer, Claim, ConsentRequest, Holder, Maker, Mode, URI, Watcher } from './types.ts';

/** A terminal of the host, with all that is known about it. Never changed: the next state is another object. */
export interface Terminal {
  readonly resource: URI;
  /** The terminal's name on the byte lane and in REST. */
  readonly id: string;
  readonly title: string;
  /** How the program ended; undefined while it runs. The code is undefined when nobody knows it. */
  readonly exit: { readonly code: number | undefined } | undefined;
  readonly claim: Claim;
  /** The device or program at which the program runs; undefined if the server runs it. */
  readonly device: string | undefined;
  readonly mode: Mode;
  readonly created: string; // RFC 3339
  readonly maker: Maker;
  readonly holder: Holder;
  /** Who has it before them, this window included. */
  readonly watchers: readonly Watcher[];
}

/** What a new terminal starts with; the server chooses what is left out. */
export interface NewTerminal {
  cwd?: string; // an absolute path
  cols?: number;
  rows?: number;
}

/** A terminal that is being made. */
export interface Creation {
  /** Its name from now on; `added` comes with it before `terminal` is there. */
  readonly resource: URI;
  /** Rejects when there will be no terminal, or when the connection was lost before anybody knew. */
  readonly terminal: Promise<Terminal>;
}

/** Why a terminal is not there any more: somebody ended it, or the server was started anew. */
export type Removal = 'disposed' | 'restarted';

/** What a store tells, each after its whole state is the new one. */
export interface StoreEvents {
  /** Also for terminals made here. */
  added(terminal: Terminal): void;
  /** `terminal` is what was last known of it. */
  removed(terminal: Terminal, why: Removal): void;
  changed(terminal: Terminal, before: Terminal): void;
  requests(requests: readonly ConsentRequest[]): void;
  paused(paused: boolean): void;
  /** Whether the connection stands. Without it the state is the last that was heard. */
  connected(connected: boolean): void;
  /** The login ended: call `nudge` after the next one. */
  needsLogin(): void;
}

/**
 * The host's terminals and who shares them, kept in step with the host over all losses of the network. Nothing is shown
 * before the host has said it: what a method asks for becomes visible when its promise has resolved, or shortly before.
 *
 * Methods that return a promise reject with a Refusal (the host said why not), an RpcError, a Lost (there is no
 * connection, or it broke: nobody knows whether it was done) or a Timeout. All messages are for people.
 */
export interface Store {
  /** This login's name, which is in the claims it holds. Another login on this device changes it. */
  readonly clientId: string;
  /** In the order in which the host lists them. */
  readonly terminals: ReadonlyMap<URI, Terminal>;
  /** Programs that wait for an answer, oldest first. */
  readonly requests: readonly ConsentRequest[];
  /** Whether all programs are paused. */
  readonly paused: boolean;
  readonly connected: boolean;

  /** Calls back on what happens from now on, until the returned function is called. */
  listen(events: Partial<StoreEvents>): () => void;

  /** Starts a terminal that this login holds. */
  create(spec: NewTerminal): Creation;
  /** Names a terminal. An empty title means: whatever the program says. */
  rename(resource: URI, title: string): Promise<void>;
  /** Ends a terminal and every process in it. One that is not there any more is fine. */
  dispose(resource: URI): Promise<void>;
  /** Takes a terminal for this login, whoever holds it. */
  claim(resource: URI): Promise<void>;
  setMode(resource: URI, mode: Mode): Promise<void>;
  /** Stops all programs, or lets them go on. */
  setPaused(paused: boolean): Promise<void>;
  answer(request: string, answer: Answer): Promise<void>;

  /** Says that the network may have come or gone, or somebody logged in. */
  nudge(): void;
  /** Ends the connection. Nothing is told after it. */
  close(): void;
}
