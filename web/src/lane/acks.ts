/** Bytes rendered since the last ack that make the next one due. The server stops at 384 KiB without one. */
export const ACK_BYTES = 48 * 1024;

/** How long rendered bytes wait for more to share an ack with, in milliseconds. */
export const ACK_DELAY = 50;

/**
 * Decides when to tell the server how far the screen has come: after every ACK_BYTES in a flood, and ACK_DELAY after
 * the first unacknowledged byte otherwise, so that a prompt that waits is acknowledged as well.
 */
export class Acks {
  private acked = 0;
  private rendered = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `send` takes the offset before which everything was rendered. */
  constructor(private readonly send: (offset: number) => void) {}

  /** Begins a connection: `offset` is acknowledged at once, which turns pacing by acks on. */
  start(offset: number): void {
    this.stop();
    this.rendered = offset;
    this.flush();
  }

  /** Notes that everything before `offset` was rendered. */
  advance(offset: number): void {
    if (offset <= this.rendered) return;
    this.rendered = offset;
    if (offset - this.acked >= ACK_BYTES) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), ACK_DELAY);
  }

  /** Ends the connection: nothing is sent until the next start. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private flush(): void {
    this.stop();
    this.acked = this.rendered;
    this.send(this.acked);
  }
}
