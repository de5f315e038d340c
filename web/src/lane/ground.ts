const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const C1_LEAD = 0xc2; // the first UTF-8 byte of U+0080 to U+00BF

type State = 'ground' | 'escape' | 'csi' | 'osc' | 'string';

/**
 * Follows output just closely enough to say whether it has come to the end of an escape sequence. Something of our own
 * may be written to the terminal only there. Frames end wherever the window was full, but never inside a character.
 */
export class Ground {
  private state: State = 'ground';

  /** Takes the next chunk, and returns whether the output so far ends outside of any sequence. */
  after(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; at++) this.step(bytes[at]!, bytes[at + 1]);
    return this.state === 'ground';
  }

  /** Forgets an unfinished sequence, as the terminal does when it is reset. */
  reset(): void {
    this.state = 'ground';
  }

  private step(byte: number, next: number | undefined): void {
    if (this.state === 'ground' && byte !== ESC && byte !== C1_LEAD) return; // nearly all of them
    if (byte === ESC) this.state = 'escape'; // also the first half of ST, which ends a string
    else if (byte === CAN || byte === SUB) this.state = 'ground';
    else if (byte === C1_LEAD && c1(next) !== 'ground') this.state = c1(next);
    else if (this.state === 'osc') {
      if (byte === BEL) this.state = 'ground';
    } else if (this.state === 'csi') {
      if (byte >= 0x40 && byte <= 0x7e) this.state = 'ground';
    } else if (this.state === 'escape' && byte >= 0x30 && byte <= 0x7e) {
      this.state = escape(byte);
    }
  }
}

/** Where the byte after ESC leads; bytes from 0x20 to 0x2f only lead on. */
function escape(byte: number): State {
  switch (String.fromCharCode(byte)) {
    case '[':
      return 'csi';
    case ']':
      return 'osc';
    case 'P': // DCS
    case 'X': // SOS
    case '^': // PM
    case '_': // APC
      return 'string';
    default:
      return 'ground';
  }
}

/** The same for an eight-bit control, by its second UTF-8 byte. */
function c1(byte: number | undefined): State {
  switch (byte) {
    case 0x9b:
      return 'csi';
    case 0x9d:
      return 'osc';
    case 0x90:
    case 0x98:
    case 0x9e:
    case 0x9f:
      return 'string';
    default:
      return 'ground';
  }
}
