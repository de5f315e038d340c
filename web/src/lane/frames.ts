/** A text frame from the server. */
export type ServerFrame =
  | { type: 'ready'; offset: number; cols: number; rows: number; writable: boolean }
  | { type: 'writable'; writable: boolean }
  | { type: 'cleared'; offset: number }
  | { type: 'reset'; offset: number; replay: boolean }
  | { type: 'live'; offset: number }
  | { type: 'resize'; cols: number; rows: number }
  | { type: 'title'; title: string; cwd?: string }
  | CommandFrame
  | { type: 'exit'; code: number; signal?: string }
  | { type: 'error'; title: string; code?: string }
  | { type: 'pong' };

/** A command started (it has a line), or ended. The bytes before the frame are those before that moment. */
export type CommandFrame =
  | { type: 'command'; id: string; line: string; cwd: string; started: number } // milliseconds since 1970
  | { type: 'command'; id: string; exitCode: number | undefined; duration: number }; // milliseconds

/** A text frame to the server. */
export type ClientFrame =
  | { type: 'resize'; cols: number; rows: number }
  | { type: 'ack'; offset: number }
  | { type: 'visible'; visible: boolean }
  | { type: 'clear' }
  | { type: 'answer'; data: string }
  | { type: 'ping' };

/**
 * Reads a text frame. Returns undefined for an unknown type, which the protocol says to ignore, and for a frame with a
 * missing or bad field.
 */
export function parseFrame(text: string): ServerFrame | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const frame = value as Record<string, unknown>;
  const { type, offset, cols, rows, writable, title, code, signal } = frame;
  switch (type) {
    case 'ready':
      return isOffset(offset) && isCells(cols) && isCells(rows)
        ? { type, offset, cols, rows, writable: writable !== false }
        : undefined;
    case 'writable':
      return typeof writable === 'boolean' ? { type, writable } : undefined;
    case 'cleared':
    case 'live':
      return isOffset(offset) ? { type, offset } : undefined;
    case 'reset':
      return isOffset(offset) ? { type, offset, replay: frame['replay'] === true } : undefined;
    case 'resize':
      return isCells(cols) && isCells(rows) ? { type, cols, rows } : undefined;
    case 'title':
      if (typeof title !== 'string') return undefined;
      return typeof frame['cwd'] === 'string' ? { type, title, cwd: frame['cwd'] } : { type, title };
    case 'error':
      if (typeof title !== 'string') return undefined;
      return typeof code === 'string' ? { type, title, code } : { type, title };
    case 'command':
      return readCommand(frame);
    case 'exit':
      if (typeof code !== 'number' || !Number.isInteger(code)) return undefined;
      return typeof signal === 'string' && signal !== '' ? { type, code, signal } : { type, code };
    case 'pong':
      return { type };
    default:
      return undefined;
  }
}

function readCommand({ id, line, cwd, started, exit_code: code, duration_ms: duration }: Record<string, unknown>): CommandFrame | undefined {
  if (typeof id !== 'string' || id === '') return undefined;
  if (typeof line === 'string') {
    const time = typeof started === 'string' ? Date.parse(started) : NaN;
    if (Number.isNaN(time)) return undefined;
    return { type: 'command', id, line, cwd: typeof cwd === 'string' ? cwd : '', started: time };
  }
  if (line !== undefined || typeof duration !== 'number' || !(duration >= 0 && Number.isFinite(duration))) return undefined;
  if (code !== undefined && code !== null && !(typeof code === 'number' && Number.isSafeInteger(code))) return undefined;
  return { type: 'command', id, exitCode: code ?? undefined, duration };
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** A terminal has at most 65,535 columns or rows (struct winsize). */
function isCells(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 0xffff;
}
