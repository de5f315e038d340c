/** What runs in a terminal now. The rest is in the Store. */
export interface TerminalInfo {
  foreground: string; // name of the foreground process
  busy: boolean; // something other than the shell itself runs
}

/** A login: one device on which somebody is signed in. */
export interface Login {
  id: string;
  device: string;
  address: string;
  created: string; // RFC 3339
  last_seen: string; // RFC 3339
  current: boolean; // the one that asks
}

/** What the server says about itself and this login. */
export interface Session {
  login: Login;
  version: string;
  boot: string; // differs after each start of the server
  dir: string; // where new shells start
  limit: number; // live terminals allowed
  client_id: string; // this login's name among those who share terminals
}

/** The server refused a request. The message is for people. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Seconds until another try makes sense; 0 if the server did not say. */
    readonly retryAfter: number,
  ) {
    super(message);
  }
}

/** The server did not answer, or a proxy answered that it could not be reached. */
export class Unreachable extends Error {
  constructor() {
    super('The server cannot be reached.');
  }
}

/** The REST interface. Every call throws ApiError or Unreachable when it fails. */
export const api = {
  session: () => request<Session>('GET', 'api/session'),
  login: (password: string) => request<void>('POST', 'api/login', { password }),
  /** Spends the secret of a one-time login link. */
  loginByLink: (secret: string) => request<void>('POST', 'api/login/link', { secret }),
  logout: () => request<void>('POST', 'api/logout'),
  logins: () => request<Login[]>('GET', 'api/logins'),
  revoke: (login: string) => request<void>('DELETE', `api/logins/${encodeURIComponent(login)}`),
  terminal: (id: string) => request<TerminalInfo>('GET', terminalPath(id)),
  /** Makes a ticket for one attach, good for 60 s. */
  ticket: async (id: string) => (await request<{ ticket: string }>('POST', `${terminalPath(id)}/tickets`)).ticket,
};

/** Returns the address of the server's AHP host. */
export function hostAddress(): string {
  return socketAddress('ahp', {});
}

/** Returns the address of a terminal's byte lane, continuing from offset `since` if given. */
export function laneAddress(id: string, ticket: string, since: number | undefined): string {
  return socketAddress('ws/terminal', { session_id: id, ticket, ...(since !== undefined && { since: String(since) }) });
}

function socketAddress(path: string, query: Record<string, string>): string {
  const address = new URL(path, document.baseURI);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  address.hash = '';
  address.search = new URLSearchParams(query).toString();
  return address.href;
}

/** A request that takes longer counts as a lost network, in milliseconds. */
const TIMEOUT = 15_000;

/** Sends a request to an address relative to the page, so that it works under any base path. */
async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method, signal: AbortSignal.timeout(TIMEOUT) };
  if (body !== undefined) {
    init.headers = { 'Content-Type': 'application/json' };
    init.body = JSON.stringify(body);
  }
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, init);
    text = await response.text();
  } catch {
    throw new Unreachable();
  }
  if (response.status >= 502 && response.status <= 504) throw new Unreachable();
  if (!response.ok) throw refusal(response, text);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

function terminalPath(id: string): string {
  return `api/terminals/${encodeURIComponent(id)}`;
}

/** Takes the sentence from the problem details (RFC 9457); a proxy's own error page has none. */
function refusal(response: Response, text: string): ApiError {
  let message = `The server answered ${response.status}.`;
  try {
    const problem = JSON.parse(text) as { title?: string; detail?: string };
    message = problem.detail || problem.title || message;
  } catch {
    // The status has to do.
  }
  return new ApiError(response.status, message, Number(response.headers.get('Retry-After')) || 0);
}
