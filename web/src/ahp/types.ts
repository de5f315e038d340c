// The Agent Host Protocol as far as the page speaks it, in version 1.0.0.
// https://github.com/microsoft/agent-host-protocol

/** Names a channel; compared as an exact string. */
export type URI = string;

/** The channel with the list of all terminals. */
export const ROOT: URI = 'ahp-root://';

/** The channel with who sees and holds what: an extension of this host, for people only. */
export const SHARING: URI = 'ahp-tandem:/sharing';

/** Who drives a terminal. */
export type Claim =
  | { kind: 'client'; clientId: string }
  | { kind: 'session'; session: URI; chat?: URI; turnId?: string; toolCallId?: string };

/** Whether a terminal's program runs. The code is missing when nobody knows it. */
export type Lifecycle = { status: 'running' } | { status: 'exited'; exitCode?: number };

/** A terminal in the root's list. */
export interface TerminalInfo {
  resource: URI;
  title: string;
  claim: Claim;
  lifecycle?: Lifecycle;
  /** Where the program runs: at the host unless said. */
  executionTarget?: 'client' | 'server';
}

/** The state of the root channel. */
export interface RootState {
  agents: unknown[];
  activeSessions?: number;
  terminals?: TerminalInfo[];
  config?: { schema: unknown; values: Record<string, unknown> };
}

/** A piece of a terminal's output: what one command wrote, or what belongs to none. */
export type Part =
  | { type: 'unclassified'; value: string }
  | {
      type: 'command';
      commandId: string;
      commandLine: string;
      output: string;
      timestamp: number; // milliseconds since 1970
      isComplete: boolean;
      exitCode?: number;
      durationMs?: number;
    };

/** The state of a terminal's channel. */
export interface TerminalState {
  title: string;
  cwd?: URI;
  cols?: number;
  rows?: number;
  content: Part[];
  claim: Claim;
  supportsCommandDetection?: boolean;
  lifecycle?: Lifecycle;
  /** Below version 0.9 in place of `lifecycle`; missing while the program runs. */
  exitCode?: number;
}

/** What programs may do with a terminal that a person holds, from nothing to everything. */
export type Mode = 'private' | 'watch' | 'ask' | 'share';

/** What a person says to a program's request: this once, always in this tab, always, or no. */
export type Answer = 'once' | 'tab' | 'always' | 'no';

/** Who made a terminal. */
export interface Maker {
  kind: 'person' | 'program';
  name: string;
}

/** Who holds a terminal. `client` is a client id, or the URI of a session. */
export interface Holder {
  kind: 'person' | 'program' | 'session';
  name: string;
  client: string;
}

/** Who has a terminal before them. */
export interface Watcher {
  kind: 'person' | 'program';
  name: string;
  client: string;
}

/** What the sharing channel says about one terminal. */
export interface Sharing {
  id: string; // the terminal's name on the byte lane and in REST
  mode: Mode;
  created: string; // RFC 3339
  maker: Maker;
  holder: Holder;
  watchers: Watcher[];
}

/** A program asks for the claim on a terminal. */
export interface ConsentRequest {
  id: string;
  resource: URI;
  program: string;
  session?: URI;
  created: string; // RFC 3339
}

/** The state of the sharing channel. */
export interface SharingState {
  paused: boolean;
  terminals: Record<URI, Sharing>;
  requests: ConsentRequest[];
}

export type RootAction =
  | { type: 'root/agentsChanged'; agents: unknown[] }
  | { type: 'root/activeSessionsChanged'; activeSessions: number }
  | { type: 'root/terminalsChanged'; terminals: TerminalInfo[] }
  | { type: 'root/configChanged'; config: Record<string, unknown>; replace?: boolean };

export type TerminalAction =
  | { type: 'terminal/data'; data: string }
  | { type: 'terminal/output'; data: string } // of a terminal that runs at a client, from there
  | { type: 'terminal/input'; data: string }
  | { type: 'terminal/resized'; cols: number; rows: number }
  | { type: 'terminal/claimed'; claim: Claim }
  | { type: 'terminal/titleChanged'; title: string }
  | { type: 'terminal/cwdChanged'; cwd: URI }
  | { type: 'terminal/exited'; exitCode?: number }
  | { type: 'terminal/cleared' }
  | { type: 'terminal/commandDetectionAvailable' }
  | { type: 'terminal/commandExecuted'; commandId: string; commandLine: string; timestamp: number }
  | { type: 'terminal/commandFinished'; commandId: string; exitCode?: number; durationMs?: number };

export type SharingAction =
  | { type: 'sharing/changed'; state: SharingState }
  | { type: 'sharing/modeSet'; resource: URI; mode: Mode }
  | { type: 'sharing/pausedSet'; paused: boolean }
  | { type: 'sharing/requestAnswered'; request: string; answer: Answer };

export type Action = RootAction | TerminalAction | SharingAction;

/** An action that is yet to be looked into: it came from outside. */
export interface AnyAction {
  type: string;
  [field: string]: unknown;
}

/** An action as the host sends it. */
export interface Envelope {
  channel: URI;
  action: AnyAction;
  /** Rises over all channels of the host, with gaps. */
  serverSeq: number;
  /** Whose action it was; missing for the host's own. */
  origin?: { clientId: string; clientSeq: number };
  /** Why the host did not do it. The state is as it was. */
  rejectionReason?: string;
}

/** A channel's whole state. */
export interface Snapshot {
  resource: URI;
  state: unknown;
  /** The number of the last action in it. */
  fromSeq: number;
}
