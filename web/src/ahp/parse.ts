import type { AnyAction, Claim, ConsentRequest, Envelope, Mode, RootState, SharingState, Sharing, Snapshot, TerminalInfo } from './types.ts';

// Each reader returns undefined for what does not keep the promises of its type. Fields that it does not know stay.

type Fields = Record<string, unknown>;

/** Reads an object, which is no list and not null. */
export function readFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Tells a whole number that is exact, as counts and codes are. */
export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Reads the parameters of an `action` notification. */
export function readEnvelope(value: unknown): Envelope | undefined {
  const fields = readFields(value);
  const action = readAction(fields?.['action']);
  if (!fields || !action) return undefined;
  const { channel, serverSeq, rejectionReason } = fields;
  if (typeof channel !== 'string' || !isInteger(serverSeq) || serverSeq < 0) return undefined;
  const envelope: Envelope = { channel, action, serverSeq };
  const origin = readFields(fields['origin']);
  if (origin && typeof origin['clientId'] === 'string' && isInteger(origin['clientSeq'])) {
    envelope.origin = { clientId: origin['clientId'], clientSeq: origin['clientSeq'] };
  }
  // A reason that cannot be read still says that nothing was done.
  if (rejectionReason !== undefined && rejectionReason !== null) {
    envelope.rejectionReason = typeof rejectionReason === 'string' ? rejectionReason : '';
  }
  return envelope;
}

export function readAction(value: unknown): AnyAction | undefined {
  const fields = readFields(value);
  return fields && typeof fields['type'] === 'string' ? (fields as AnyAction) : undefined;
}

export function readSnapshot(value: unknown): Snapshot | undefined {
  const fields = readFields(value);
  if (!fields) return undefined;
  const { resource, state, fromSeq } = fields;
  return typeof resource === 'string' && isInteger(fromSeq) && fromSeq >= 0 ? { resource, state, fromSeq } : undefined;
}

export function readRootState(value: unknown): RootState | undefined {
  const fields = readFields(value);
  if (!fields) return undefined;
  const { agents, terminals } = fields;
  return { ...fields, agents: Array.isArray(agents) ? agents : [], terminals: readTerminals(terminals) ?? [] };
}

/** Reads a list of terminals, leaving out what is none. */
export function readTerminals(value: unknown): TerminalInfo[] | undefined {
  return Array.isArray(value) ? value.filter(isTerminalInfo) : undefined;
}

export function isClaim(value: unknown): value is Claim {
  const claim = readFields(value);
  if (claim?.['kind'] === 'client') return typeof claim['clientId'] === 'string';
  return claim?.['kind'] === 'session' && typeof claim['session'] === 'string';
}

/** Reads the sharing channel's state, leaving out terminals and requests that are none. */
export function readSharingState(value: unknown): SharingState | undefined {
  const fields = readFields(value);
  if (!fields || typeof fields['paused'] !== 'boolean') return undefined;
  const terminals = Object.entries(readFields(fields['terminals']) ?? {}).flatMap(([resource, entry]) => {
    const terminal = readSharing(entry);
    return terminal ? [[resource, terminal] as const] : [];
  });
  const requests = Array.isArray(fields['requests']) ? fields['requests'].filter(isRequest) : [];
  return { paused: fields['paused'], terminals: Object.fromEntries(terminals), requests };
}

const MODES: readonly unknown[] = ['private', 'watch', 'ask', 'share'] satisfies Mode[];

function readSharing(value: unknown): Sharing | undefined {
  const fields = readFields(value);
  if (!fields || typeof fields['id'] !== 'string' || typeof fields['created'] !== 'string') return undefined;
  if (!MODES.includes(fields['mode']) || !isOne(fields['maker'], MAKERS) || !isHolder(fields['holder'], HOLDERS)) return undefined;
  const watchers = Array.isArray(fields['watchers']) ? fields['watchers'].filter((w) => isHolder(w, MAKERS)) : [];
  return { ...fields, watchers } as unknown as Sharing;
}

const MAKERS: readonly unknown[] = ['person', 'program'];
const HOLDERS: readonly unknown[] = [...MAKERS, 'session'];

function isOne(value: unknown, kinds: readonly unknown[]): boolean {
  const fields = readFields(value);
  return fields !== undefined && kinds.includes(fields['kind']) && typeof fields['name'] === 'string';
}

function isHolder(value: unknown, kinds: readonly unknown[]): boolean {
  return isOne(value, kinds) && typeof (value as Fields)['client'] === 'string';
}

const TARGETS: readonly unknown[] = ['client', 'server'];

function isTerminalInfo(value: unknown): value is TerminalInfo {
  const fields = readFields(value);
  if (!fields || typeof fields['resource'] !== 'string' || typeof fields['title'] !== 'string' || !isClaim(fields['claim'])) return false;
  if (fields['executionTarget'] !== undefined && !TARGETS.includes(fields['executionTarget'])) return false;
  return fields['lifecycle'] === undefined || isLifecycle(fields['lifecycle']);
}

function isLifecycle(value: unknown): boolean {
  const fields = readFields(value);
  if (fields?.['status'] === 'running') return true;
  return fields?.['status'] === 'exited' && (fields['exitCode'] === undefined || isInteger(fields['exitCode']));
}

function isRequest(value: unknown): value is ConsentRequest {
  const fields = readFields(value);
  if (!fields || (fields['session'] !== undefined && typeof fields['session'] !== 'string')) return false;
  return ['id', 'resource', 'program', 'created'].every((name) => typeof fields[name] === 'string');
}
