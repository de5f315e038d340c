import type { IBuffer } from '@xterm/xterm';

/** A place in a terminal's buffer: a row, counted from the oldest that is kept, and a column. */
export interface Position {
  row: number;
  column: number;
}

/** How many lines may be between a command line and its output: what was typed ahead is echoed there. */
const TYPED_AHEAD = 3;

/** How much of a command line is looked for on the screen, in characters: the rest may be anything but wrapped text. */
const LOOK_FOR = 30;

/** Returns the text from one place to another, trailing blanks left out and rows that were wrapped joined again. */
export function textBetween(buffer: IBuffer, from: Position, to: Position): string {
  let text = '';
  for (let row = from.row; row <= to.row; row++) {
    const line = buffer.getLine(row);
    if (!line) break;
    const wraps = row < to.row && buffer.getLine(row + 1)?.isWrapped === true;
    const start = row === from.row ? from.column : 0;
    if (row > from.row && !line.isWrapped) text += '\n';
    text += line.translateToString(!wraps, start, row === to.row ? to.column : undefined);
  }
  return text.replace(/\n$/, '');
}

/**
 * Finds where the line of a command is shown that begins to run at `cursor`: above it, unless a program has painted over
 * it, and not above row `top`. Returns its first row and how many lines, wrapped or not, are between that and the output.
 */
export function findCommandLine(buffer: IBuffer, cursor: Position, line: string, top: number): { row: number; lines: number } {
  const lines = line.trim().split('\n');
  const wanted = withoutBlanks(lines[0]!).slice(0, LOOK_FOR);
  // An unknown line is the one above.
  const most = wanted === '' ? 1 : lines.length + TYPED_AHEAD;
  let row = startOfLine(buffer, cursor.row);
  for (let above = 1; above <= most && row > top; above++) {
    row = startOfLine(buffer, row - 1);
    if (withoutBlanks(lineAt(buffer, row)).includes(wanted)) return { row, lines: above };
  }
  return { row: cursor.row, lines: 0 };
}

/** Returns the row that is `lines` lines, wrapped or not, below the one that begins at `row`. */
export function below(buffer: IBuffer, row: number, lines: number): number {
  for (; lines > 0; lines--) {
    row++;
    while (buffer.getLine(row)?.isWrapped) row++;
  }
  return row;
}

function startOfLine(buffer: IBuffer, row: number): number {
  while (row > 0 && buffer.getLine(row)?.isWrapped) row--;
  return row;
}

function lineAt(buffer: IBuffer, row: number): string {
  return textBetween(buffer, { row, column: 0 }, { row: below(buffer, row, 1) - 1, column: Number.MAX_SAFE_INTEGER });
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s/g, '');
}
