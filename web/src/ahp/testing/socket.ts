/** A message as a test reads it. */
export interface Message {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/** The browser's end of a connection whose server is the test. */
export class FakeSocket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  /** What the page has sent. */
  readonly sent: Message[] = [];
  state: 'opening' | 'open' | 'closed' = 'opening';
  /** Called with each message that the page sends. */
  answer: ((message: Message) => void) | undefined;

  /** As a WebSocket, for the code under test. */
  get asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }

  send(data: string): void {
    if (this.state !== 'open') throw new Error(`sent on a socket that is ${this.state}`);
    const message = JSON.parse(data) as Message;
    this.sent.push(message);
    this.answer?.(message);
  }

  close(): void {
    this.state = 'closed';
  }

  /** The server accepts the connection. */
  open(): void {
    this.state = 'open';
    this.onopen?.();
  }

  /** The server sends a message. */
  tell(message: object): void {
    this.raw(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  /** The server sends a frame. */
  raw(data: unknown): void {
    this.onmessage?.({ data });
  }

  /** The server answers the last request with this method. */
  reply(method: string, answer: { result: unknown } | { error: object }): void {
    const request = this.last(method);
    if (request?.id === undefined) throw new Error(`no ${method} was sent`);
    this.tell({ id: request.id, ...answer });
  }

  /** Returns the last message with this method. */
  last(method: string): Message | undefined {
    return this.sent.filter((message) => message.method === method).at(-1);
  }

  /** The connection ends as seen from the browser. */
  end(code = 1006): void {
    this.state = 'closed';
    this.onclose?.({ code });
  }
}
