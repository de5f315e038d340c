import { FitAddon } from '@xterm/addon-fit';
import { UnicodeGraphemesAddon } from '@xterm/addon-unicode-graphemes';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { WebglAddon } from '@xterm/addon-webgl';
import { Terminal } from '@xterm/xterm';
import { copyText } from './clipboard.ts';
import type { CommandLog } from './commands/log.ts';
import { CommandMarks } from './commands/marks.ts';
import { h } from './dom.ts';
import { isAnswer } from './lane/answers.ts';
import type { CommandFrame } from './lane/frames.ts';
import type { TerminalAnswer } from './lane/input.ts';
import type { Screen } from './lane/lane.ts';
import { settings } from './settings.ts';
import { isMac, matchShortcut } from './shortcuts.ts';
import { terminalTheme } from './theme.ts';
import { hasFastWebgl } from './webgl.ts';

/** What a pane tells. */
export interface PaneEvents {
  /** The person typed. */
  type(keys: Uint8Array<ArrayBuffer>): void;
  /** The person pasted a text, bracketed if the program asked for that. */
  paste(text: Uint8Array<ArrayBuffer>): void;
  /** The terminal answers the program, or reports the mouse or the focus to it. */
  answer(answer: TerminalAnswer): void;
  /** The size that would fill the pane, in cells. */
  fits(cols: number, rows: number): void;
  /** The person pressed the mark of a command. */
  mark(id: string, mark: HTMLElement): void;
}

/** How many lines are kept above the screen. */
const SCROLLBACK = 10_000;

/** Ctrl+E and Ctrl+U, by which the line editors of shells go to a line's end and erase it. */
const ERASE_LINE = '\x05\x15';

/**
 * One terminal on the page. Its size in cells is the server's to say; the pane only tells what would fit. Opened in the
 * document when it is first shown, drawn only while it is shown.
 */
export class Pane implements Screen {
  /** The tab panel that holds the terminal; hidden until show. */
  readonly element = h('section', { class: 'pane', role: 'tabpanel', hidden: true });
  /** The marks beside the commands. */
  readonly marks: CommandMarks;
  private readonly holder = h('div', { class: 'pane-terminal' });
  private readonly terminal: Terminal;
  private readonly fit = new FitAddon();
  private webgl: WebglAddon | undefined;
  /** Whether WebGL was tried and lost, or is not there; the DOM renderer does for the rest of this pane's life. */
  private webglLost = false;
  /** Whether the data that xterm.js gives us now is a paste. */
  private pasting = false;
  private readonly resizes = new ResizeObserver(() => this.tellFit());

  constructor(
    private readonly events: PaneEvents,
    private readonly commands: CommandLog,
  ) {
    const { fontSize, screenReader } = settings.get();
    this.terminal = new Terminal({
      allowProposedApi: true, // the grapheme addon's
      cursorBlink: false,
      fontFamily: '"JetBrains Mono", ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
      fontSize,
      macOptionIsMeta: true,
      minimumContrastRatio: 4.5, // WCAG's for text
      rightClickSelectsWord: false,
      screenReaderMode: screenReader,
      scrollback: SCROLLBACK,
      theme: terminalTheme(),
    });
    this.marks = new CommandMarks(this.terminal, commands, (id, mark) => events.mark(id, mark));
    this.terminal.loadAddon(this.fit);
    this.terminal.loadAddon(new UnicodeGraphemesAddon());
    this.terminal.loadAddon(new WebLinksAddon((_event, uri) => openLink(uri)));
    // A program gives these links any text it likes, so the address shows before the click.
    this.terminal.options.linkHandler = {
      activate: (_event, uri) => openLink(uri),
      hover: (_event, uri) => (this.holder.title = uri),
      leave: () => this.holder.removeAttribute('title'),
    };
    const encoder = new TextEncoder();
    let key: string | undefined; // what the key that was pressed last says, until it comes as data
    this.terminal.onKey((press) => (key = press.key));
    this.terminal.onData((text) => {
      const typed = text === key;
      key = undefined;
      if (this.pasting) events.paste(encoder.encode(text));
      else if (!typed && isAnswer(text)) events.answer(text);
      else {
        this.marks.deselect();
        events.type(encoder.encode(text));
      }
    });
    // The mouse in its oldest encoding, which is text only as far as column and row 95.
    this.terminal.onBinary((bytes) => events.answer(isASCII(bytes) ? bytes : Uint8Array.from(bytes, (c) => c.charCodeAt(0))));
    this.holder.addEventListener('paste', (event) => this.handlePaste(event), true);
    // xterm.js waits for a key's release, and drops text that comes without keys until then, as from dictation. A key that
    // moves the focus away is released elsewhere.
    this.holder.addEventListener('focusout', ({ target }) => target!.dispatchEvent(new KeyboardEvent('keyup')));
    this.terminal.attachCustomKeyEventHandler((event) => this.handleKey(event));
    this.element.append(this.holder);
  }

  write(bytes: Uint8Array, done: () => void): void {
    this.terminal.write(bytes, done);
  }

  // What is not output waits for the output before it: xterm.js parses later than it is given.

  reset(): void {
    this.terminal.write('', () => {
      this.marks.reset();
      this.terminal.reset();
    });
  }

  resize(cols: number, rows: number): void {
    this.terminal.write('', () => this.terminal.resize(cols, rows));
  }

  clear(): void {
    this.terminal.write('', () => {
      this.terminal.options.scrollback = 0;
      this.terminal.options.scrollback = SCROLLBACK;
      this.commands.keep((id) => this.marks.has(id)); // what was cleared is not to be read in the list either
    });
  }

  command(frame: CommandFrame): void {
    this.terminal.write('', () => {
      if ('line' in frame) this.marks.start(frame.id);
      else this.marks.finish(frame.id);
    });
  }

  /** Returns a command line as the keys that run it: in brackets if the program takes pastes so, without what was typed before. */
  keysFor(line: string): Uint8Array<ArrayBuffer> {
    const text = line.replaceAll(/[^\P{Cc}\n\t]/gu, '').replaceAll('\n', '\r');
    const { bracketedPasteMode } = this.terminal.modes;
    const keys = bracketedPasteMode ? `\x1b[200~${text}\x1b[201~` : text.replaceAll('\t', ' ');
    return new TextEncoder().encode(`${ERASE_LINE}${keys}\r`);
  }

  /** Shows the pane, and tells what fits. */
  show(): void {
    this.element.hidden = false;
    if (!this.terminal.element) {
      this.terminal.open(this.holder);
      this.resizes.observe(this.holder);
    }
    this.chooseRenderer();
    this.tellFit();
  }

  /** Hides the pane. A browser has few WebGL contexts, so a hidden pane gives its own back. */
  hide(): void {
    this.element.hidden = true;
    this.webgl?.dispose();
    this.webgl = undefined;
  }

  focus(): void {
    this.terminal.focus();
  }

  /** Returns the size that would fill the pane, in cells, once it was shown. */
  fitting(): { cols: number; rows: number } | undefined {
    const size = this.element.hidden ? undefined : this.fit.proposeDimensions();
    return size && Number.isFinite(size.cols) && Number.isFinite(size.rows) ? size : undefined;
  }

  /** Takes over changed settings and colours. */
  restyle(): void {
    const { fontSize, screenReader } = settings.get();
    Object.assign(this.terminal.options, { fontSize, screenReaderMode: screenReader, theme: terminalTheme() });
    if (!this.element.hidden) {
      this.chooseRenderer();
      this.tellFit();
    }
  }

  /** Says no to input by a short shake, which style sheets leave out for those who want no motion. */
  shake(): void {
    this.element.classList.remove('shake');
    void this.element.offsetWidth; // so that the animation starts over
    this.element.classList.add('shake');
  }

  dispose(): void {
    this.resizes.disconnect();
    this.terminal.dispose();
    this.element.remove();
  }

  private tellFit(): void {
    const size = this.fitting();
    if (size) this.events.fits(size.cols, size.rows);
  }

  private chooseRenderer(): void {
    if (settings.get().renderer === 'dom' || this.webglLost || !hasFastWebgl()) {
      this.webgl?.dispose();
      this.webgl = undefined;
      return;
    }
    if (this.webgl) return;
    try {
      const webgl = new WebglAddon();
      webgl.onContextLoss(() => {
        this.webglLost = true;
        webgl.dispose();
        this.webgl = undefined;
      });
      this.terminal.loadAddon(webgl);
      this.webgl = webgl;
    } catch {
      this.webglLost = true; // no WebGL 2 here
    }
  }

  /** Returns false for a key that xterm.js is to leave alone. */
  private handleKey(event: KeyboardEvent): boolean {
    if (!event.isTrusted || matchShortcut(event)) return false; // the page's listener gets shortcuts
    if (event.code === 'KeyC' && event.ctrlKey && event.shiftKey && !event.altKey) {
      event.preventDefault(); // or Chrome opens its developer tools
      if (event.type === 'keydown') void this.copy();
      return false;
    }
    if (event.code === 'KeyV' && event.ctrlKey && !event.altKey && !event.metaKey) {
      // Left to the browser, which pastes, and xterm.js takes the paste event.
      return !(event.shiftKey || (settings.get().ctrlV === 'paste' && !isMac));
    }
    return true;
  }

  /** Takes a paste before xterm.js does, only to know it for one. */
  private handlePaste(event: ClipboardEvent): void {
    event.preventDefault();
    event.stopPropagation();
    const text = event.clipboardData?.getData('text/plain') ?? '';
    this.pasting = true;
    this.terminal.paste(text);
    this.pasting = false;
  }

  private async copy(): Promise<void> {
    const text = this.terminal.getSelection();
    if (text !== '') await copyText(text);
  }
}

function isASCII(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/** Opens an address from a terminal's output in a new window that knows nothing of ours. */
function openLink(uri: string): void {
  if (/^(https?|mailto):/i.test(uri)) open(uri, '_blank', 'noopener,noreferrer');
}
