/** The most input bytes in one frame: the largest that a frame header of 8 bytes can announce. */
export const MAX_FRAME = 65_535;

/** How much may wait in the socket before the rest is held back, in bytes; memory for a large paste stays small. */
const HIGH_WATER = 512 * 1024;

/** How often a full socket is looked at again, in milliseconds; a browser gives no event for it. */
const LOOK_AGAIN = 10;

/** What input is sent on: the part of a WebSocket that it needs. */
export interface InputSocket {
  readonly bufferedAmount: number;
  send(data: Uint8Array<ArrayBuffer>): void;
}

/**
 * Sends input in frames of at most MAX_FRAME bytes, in order, without filling the socket's buffer. A queue belongs to
 * one connection: what was not sent when it ended is never sent again.
 */
export class InputQueue {
  private readonly frames: Uint8Array<ArrayBuffer>[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly socket: InputSocket) {}

  /** Sends `bytes`, or queues them behind what waits. Does not block. */
  push(bytes: Uint8Array<ArrayBuffer>): void {
    this.frames.push(...splitInput(bytes));
    if (this.timer === undefined) this.pump();
  }

  /** Drops what was not sent, and returns how many bytes that were. */
  close(): number {
    clearTimeout(this.timer);
    return this.frames.splice(0).reduce((sum, frame) => sum + frame.length, 0);
  }

  private pump(): void {
    this.timer = undefined;
    while (this.frames.length > 0) {
      if (this.socket.bufferedAmount >= HIGH_WATER) {
        this.timer = setTimeout(() => this.pump(), LOOK_AGAIN);
        return;
      }
      this.socket.send(this.frames.shift()!);
    }
  }
}

/** Cuts UTF-8 text into pieces of at most MAX_FRAME bytes, none of which ends inside a character. */
export function splitInput(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let from = 0;
  while (bytes.length - from > MAX_FRAME) {
    let to = from + MAX_FRAME;
    // A character has at most 3 continuation bytes; more in a row is not UTF-8 and may be cut anywhere.
    while (to > from + MAX_FRAME - 3 && isContinuation(bytes[to]!)) to--;
    if (isContinuation(bytes[to]!)) to = from + MAX_FRAME;
    pieces.push(bytes.subarray(from, to));
    from = to;
  }
  if (from < bytes.length) pieces.push(bytes.subarray(from));
  return pieces;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
