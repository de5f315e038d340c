import { Lost, RpcError, Timeout } from './errors.ts';
import { isInteger, readFields } from './parse.ts';

/** How long a request may take, in milliseconds. */
export const REQUEST_TIME = 15_000;

const METHOD_NOT_FOUND = -32601;

/** What a connection tells. */
export interface ConnectionEvents {
  opened(): void;
  /** Something came, if only something that nobody can read. */
  heard(): void;
  notification(method: string, params: unknown): void;
  /** The socket is closed, with this code. Every request was rejected before. */
  closed(code: number): void;
}

/** What becomes of a request. Called while the answer is handled, before anything that came after it. */
export interface Reply {
  resolve(result: unknown): void;
  reject(err: RpcError | Timeout | Lost): void;
}

interface Pending extends Reply {
  timer: ReturnType<typeof setTimeout>;
}

/** JSON-RPC 2.0 on a WebSocket, one message in each text frame. What is none is ignored. */
export class Connection {
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  constructor(
    private readonly socket: WebSocket,
    private readonly events: ConnectionEvents,
  ) {
    socket.onopen = () => events.opened();
    socket.onmessage = (event: MessageEvent<unknown>) => {
      events.heard();
      if (typeof event.data === 'string') this.receive(event.data);
    };
    socket.onclose = (event) => {
      this.close();
      events.closed(event.code);
    };
  }

  /** Sends a request. To be called only while the socket is open. */
  request(method: string, params: object, reply: Reply, time = REQUEST_TIME): void {
    const id = ++this.lastId;
    const timer = setTimeout(() => {
      this.pending.delete(id);
      reply.reject(new Timeout());
    }, time);
    this.pending.set(id, { ...reply, timer });
    this.send({ id, method, params });
  }

  /** Sends a notification. To be called only while the socket is open. */
  notify(method: string, params: object): void {
    this.send({ method, params });
  }

  /** Closes the socket and rejects all requests. Nothing is told after it. */
  close(): void {
    const { socket } = this;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    const pending = [...this.pending.values()];
    this.pending.clear();
    for (const { timer, reject } of pending) {
      clearTimeout(timer);
      reject(new Lost());
    }
  }

  private send(message: object): void {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  private receive(text: string): void {
    const message = readMessage(text);
    if (!message) return;
    const { id, method } = message;
    if (typeof method !== 'string') this.answered(message);
    else if (id === undefined) this.events.notification(method, message['params']);
    else this.send({ id, error: { code: METHOD_NOT_FOUND, message: 'the page answers no requests' } });
  }

  private answered(message: Record<string, unknown>): void {
    const { id, result } = message;
    const pending = typeof id === 'number' ? this.pending.get(id) : undefined;
    if (!pending) return;
    const error = readFields(message['error']);
    if (!error && result === undefined) return; // neither: no answer
    this.pending.delete(id as number);
    clearTimeout(pending.timer);
    if (!error) pending.resolve(result);
    else pending.reject(readError(error));
  }
}

function readMessage(text: string): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const fields = readFields(value);
  return fields?.['jsonrpc'] === '2.0' ? fields : undefined;
}

function readError({ code, message, data }: Record<string, unknown>): RpcError {
  const text = typeof message === 'string' && message !== '' ? message : 'The server could not do that.';
  return new RpcError(isInteger(code) ? code : 0, text, data);
}
