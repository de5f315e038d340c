/**
 * Tells an answer of the terminal itself (cursor position, attributes, modes, colours, focus, mouse) from what a person
 * typed. `data` is one piece of xterm.js's onData. Modified F3 and a cursor report of row 1 look alike; such a piece
 * counts as typed.
 */
export function isAnswer(data: string): boolean {
  return ANSWER.test(data);
}

// CSI: ... R, c, n, t, y; I and O for focus; < ... M or m and M ... for the mouse. OSC and DCS: any.
const ANSWER = /^\x1b(?:\[(?!1;[2-8]R$)[?>=]?[\d;]*\$?[Rcnty]|\[[IO]$|\[<[\d;]+[Mm]|\[M|\]\d|P[^\x1b])/;
