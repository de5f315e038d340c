/**
 * Tells an answer of the terminal itself (cursor position, attributes, modes, colours, focus, mouse) from what a person
 * typed. `data` is one piece of xterm.js's onData. Shift+F3 and a cursor report of row 1 are the same bytes, so whoever
 * knows that a key made the piece need not ask.
 */
export function isAnswer(data: string): boolean {
  return ANSWER.test(data);
}

// CSI: ... R, c, n, t, y; I and O for focus; < ... M or m and M ... for the mouse. OSC and DCS: any.
const ANSWER = /^\x1b(?:\[[?>=]?[\d;]*\$?[Rcnty]|\[[IO]$|\[<[\d;]+[Mm]|\[M|\]\d|P[^\x1b])/;
