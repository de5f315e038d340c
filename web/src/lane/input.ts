/** The most input bytes in one frame: the largest that a frame header of 8 bytes can announce. */
export const MAX_FRAME = 65_535;

/** How long a piece of a paste that found the server's queue full waits before it is sent again, in milliseconds. */
export const RETRY_FULL = 100;

/** What closes a bracketed paste: CSI 201 ~. */
const PASTE_END = Uint8Array.of(0x1b, 0x5b, 0x32, 0x30, 0x31, 0x7e);

/** What input is sent on. */
export interface InputWire {
  send(bytes: Uint8Array<ArrayBuffer>): void;
  /** Sends what the terminal itself says to the program, which nobody typed. */
  answer(text: string): void;
  /** Calls back once the server has answered for everything sent before. */
  ping(pong: () => void): void;
}

/** What a terminal itself says to the program: text, or bytes that are none (the mouse in its oldest encoding). */
export type TerminalAnswer = string | Uint8Array<ArrayBuffer>;

/** How far a paste has come, in bytes. */
export interface PasteProgress {
  taken: number;
  total: number;
}

/**
 * Sends input in order, in frames of at most MAX_FRAME bytes. Keys go at once. A paste goes piece by piece, each after
 * the server has taken the one before, so that it may be longer than the server's queue and a key can stop it. A queue
 * belongs to one connection: what was not sent when it ended is never sent again.
 */
export class InputQueue {
  private readonly pastes: Paste[] = []; // the first is under way
  private held: TerminalAnswer[] = []; // answers that would have landed inside a paste

  /** `progress` is called as pastes go, and with undefined when the last is over. */
  constructor(
    private readonly wire: InputWire,
    private readonly progress: (progress: PasteProgress | undefined) => void,
  ) {}

  /** Sends keys. Whatever is still to be pasted is dropped. */
  type(keys: Uint8Array<ArrayBuffer>): void {
    const [current] = this.pastes.splice(0);
    if (current) {
      current.stop();
      // Or the program would take the keys for a part of the paste.
      if (current.bracketed) this.wire.send(PASTE_END);
      this.pastesOver();
    }
    this.send(keys);
  }

  /** Sends an answer of the terminal itself, behind a paste that is under way. */
  answer(answer: TerminalAnswer): void {
    if (this.pastes.length > 0) this.held.push(answer);
    else if (typeof answer === 'string') this.wire.answer(answer);
    else this.send(answer);
  }

  /** Sends a text of any size, behind the pastes before it. */
  paste(text: Uint8Array<ArrayBuffer>): void {
    const paste = new Paste(text, this.wire, {
      taken: (taken, total) => this.progress({ taken, total }),
      done: () => this.pasteDone(),
    });
    this.pastes.push(paste);
    if (this.pastes.length === 1) paste.next();
  }

  /** Notes that the server had no room for what was sent last. Returns whether that will be sent again. */
  full(): boolean {
    this.pastes[0]?.refuse();
    return this.pastes.length > 0;
  }

  /** Drops what was not sent, and returns how many bytes that were. */
  close(): number {
    this.held = [];
    const pastes = this.pastes.splice(0);
    for (const paste of pastes) paste.stop();
    if (pastes.length > 0) this.progress(undefined);
    return pastes.reduce((sum, paste) => sum + paste.left, 0);
  }

  private send(bytes: Uint8Array<ArrayBuffer>): void {
    for (const frame of splitInput(bytes)) this.wire.send(frame);
  }

  private pasteDone(): void {
    this.pastes.shift();
    if (this.pastes[0]) this.pastes[0].next();
    else this.pastesOver();
  }

  private pastesOver(): void {
    for (const answer of this.held.splice(0)) this.answer(answer);
    this.progress(undefined);
  }
}

/** One paste. The server takes a piece whole or refuses it whole, with an error before the pong. */
class Paste {
  readonly bracketed: boolean;
  private readonly pieces: Uint8Array<ArrayBuffer>[];
  private taken = 0;
  private refused = false;
  private stopped = false;
  private retry: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly text: Uint8Array<ArrayBuffer>,
    private readonly wire: InputWire,
    private readonly events: { taken(bytes: number, total: number): void; done(): void },
  ) {
    this.pieces = splitInput(text);
    this.bracketed = PASTE_END.every((byte, i) => text[text.length - PASTE_END.length + i] === byte);
  }

  /** Bytes that the server has not taken. */
  get left(): number {
    return this.text.length - this.taken;
  }

  /** Sends the next piece; those after it follow by themselves. */
  next(): void {
    const piece = this.pieces[0];
    if (!piece) {
      this.events.done();
      return;
    }
    this.refused = false;
    this.wire.send(piece);
    this.wire.ping(() => {
      if (this.stopped) return;
      if (this.refused) {
        this.retry = setTimeout(() => this.next(), RETRY_FULL);
        return;
      }
      this.pieces.shift();
      this.taken += piece.length;
      this.events.taken(this.taken, this.text.length);
      this.next();
    });
  }

  refuse(): void {
    this.refused = true;
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.retry);
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
