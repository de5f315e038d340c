import type { IDecoration, IMarker, Terminal } from '@xterm/xterm';
import { nameOfCommand, outcomeOf, outcomeWords } from './command.ts';
import type { CommandLog } from './log.ts';
import { below, findCommandLine, textBetween } from './output.ts';

/** The part of a terminal that marks are set in. */
export type MarkedTerminal = Pick<Terminal, 'buffer' | 'registerMarker' | 'registerDecoration' | 'rows' | 'cols' | 'scrollToLine'>;

/** Where a command is in the buffer. */
interface Place {
  readonly start: IMarker;
  /** How many lines, wrapped or not, the command line takes before its output. */
  readonly lines: number;
  readonly decoration: IDecoration | undefined;
  end: { readonly marker: IMarker; readonly column: number } | undefined;
}

/**
 * How many commands are marked. While they are in a full buffer, each makes a line of output about 13 ns dearer, so that
 * these double its price at most.
 */
const MOST = 250;

/** How long a command that was jumped to is lit, in milliseconds. */
const FLASH = 900;

/**
 * The marks beside a terminal's commands, and which command is selected. Marks go with their lines: when these are erased
 * or scroll out of the buffer. On the alternate screen there are none.
 */
export class CommandMarks {
  private readonly places = new Map<string, Place>(); // oldest first
  private readonly listening = new WeakSet<HTMLElement>();
  private selectedId: string | undefined;
  private flash: IDecoration | undefined;

  /** `press` is called when somebody clicks on a mark. */
  constructor(
    private readonly terminal: MarkedTerminal,
    private readonly log: CommandLog,
    private readonly press: (id: string, mark: HTMLElement) => void,
  ) {}

  /** The command that was jumped to last, as long as it is marked. */
  get selected(): string | undefined {
    return this.selectedId;
  }

  /** Marks a command that starts at the cursor. */
  start(id: string): void {
    const { active } = this.terminal.buffer;
    if (active.type === 'alternate' || this.places.has(id)) return;
    const cursor = { row: active.baseY + active.cursorY, column: active.cursorX };
    const before = [...this.places.values()].at(-1)?.end?.marker; // its line is -1 once it is gone
    const { row, lines } = findCommandLine(active, cursor, this.log.get(id)?.line ?? '', Math.max(0, before?.line ?? 0));
    const start = before?.line === row ? before : this.terminal.registerMarker(row - cursor.row);
    const decoration = this.terminal.registerDecoration({ marker: start });
    const place: Place = { start, lines, decoration, end: undefined };
    this.places.set(id, place);
    // The decoration goes with its marker, and also when a program resets the terminal.
    decoration?.onDispose(() => this.forget(id, place));
    decoration?.onRender((element) => this.draw(id, element));
    if (this.places.size > MOST) this.places.values().next().value!.start.dispose();
  }

  /** Marks the end of a command's output at the cursor. */
  finish(id: string): void {
    const place = this.places.get(id);
    if (!place || place.end) return;
    const { active } = this.terminal.buffer;
    if (active.type === 'normal') place.end = { marker: this.terminal.registerMarker(0), column: active.cursorX };
    this.redraw(id);
  }

  /** Takes all marks away. */
  reset(): void {
    this.deselect();
    for (const { start } of [...this.places.values()]) start.dispose();
    this.places.clear();
  }

  has(id: string): boolean {
    return this.places.has(id);
  }

  /** The mark of a command, while it is on the screen. */
  element(id: string): HTMLElement | undefined {
    const element = this.places.get(id)?.decoration?.element;
    return element?.isConnected && element.style.display !== 'none' ? element : undefined;
  }

  /** Selects the marked command that is `steps` after the selected one, or before it, and returns it. Without one selected, the last is the first to come. */
  step(steps: number): string | undefined {
    const ids = [...this.places.keys()];
    const at = this.selectedId === undefined ? ids.length : ids.indexOf(this.selectedId);
    const id = ids[Math.max(0, Math.min(at + steps, ids.length - 1))];
    if (id !== undefined) this.jump(id);
    return id;
  }

  /** Selects a command, shows it and lights its line for a moment. Returns whether it is there. */
  jump(id: string): boolean {
    const place = this.places.get(id);
    if (!place || this.terminal.buffer.active.type === 'alternate') return false;
    const { line } = place.start;
    const { viewportY } = this.terminal.buffer.active;
    if (line < viewportY || line >= viewportY + this.terminal.rows) this.terminal.scrollToLine(Math.max(0, line - 1));
    this.select(id);
    this.light(place);
    return true;
  }

  /** Selects a command where it is. */
  select(id: string): void {
    this.deselect();
    this.selectedId = id;
    this.redraw(id);
  }

  deselect(): void {
    const id = this.selectedId;
    this.selectedId = undefined;
    this.flash?.dispose();
    this.flash = undefined;
    if (id !== undefined) this.redraw(id);
  }

  /** Returns what a command has printed, as far as the buffer has it; undefined without a mark. */
  output(id: string): string | undefined {
    const place = this.places.get(id);
    if (!place) return undefined;
    const buffer = this.terminal.buffer.normal;
    const from = { row: below(buffer, place.start.line, place.lines), column: 0 };
    const end = place.end && !place.end.marker.isDisposed ? { row: place.end.marker.line, column: place.end.column } : undefined;
    return textBetween(buffer, from, end ?? this.endWithoutMark(id));
  }

  /** Where a command's output ends that runs, or that ended on the alternate screen: at the next command, or the cursor. */
  private endWithoutMark(id: string): { row: number; column: number } {
    const ids = [...this.places.keys()];
    const next = this.places.get(ids[ids.indexOf(id) + 1] ?? '');
    if (next) return { row: next.start.line, column: 0 };
    const { normal } = this.terminal.buffer;
    return { row: normal.baseY + normal.cursorY, column: normal.cursorX };
  }

  private forget(id: string, place: Place): void {
    if (this.places.get(id) !== place) return;
    this.places.delete(id);
    place.start.dispose();
    // As a rule the next command starts where this one ended, at the same marker.
    const end = place.end?.marker;
    if (end && ![...this.places.values()].some(({ start }) => start === end)) end.dispose();
    if (this.selectedId === id) this.deselect();
  }

  private light({ start }: Place): void {
    this.flash?.dispose();
    const flash = this.terminal.registerDecoration({ marker: start, width: this.terminal.cols });
    this.flash = flash;
    flash?.onRender((element) => element.classList.add('command-flash'));
    setTimeout(() => flash?.dispose(), FLASH);
  }

  private redraw(id: string): void {
    const element = this.places.get(id)?.decoration?.element;
    if (element) this.draw(id, element);
  }

  /** Called with every frame that shows the mark. */
  private draw(id: string, element: HTMLElement): void {
    const command = this.log.get(id);
    if (!command) return;
    if (!this.listening.has(element)) {
      this.listening.add(element);
      element.setAttribute('role', 'button');
      // The press is no click into the terminal: nothing is selected, and no program hears of it.
      for (const type of ['mousedown', 'mouseup'] as const) {
        element.addEventListener(type, (event) => {
          event.preventDefault();
          event.stopPropagation();
        });
      }
      element.addEventListener('click', () => this.press(id, element));
    }
    const outcome = outcomeOf(command);
    const selected = id === this.selectedId;
    const state = `${outcome} ${selected}`;
    if (element.dataset['state'] === state) return;
    element.dataset['state'] = state;
    element.classList.add('command-mark');
    for (const each of ['running', 'ok', 'failed', 'unknown']) element.classList.toggle(each, each === outcome);
    element.classList.toggle('selected', selected);
    element.title = `${command.line || nameOfCommand(command)}\n${outcomeWords(command)}`;
    element.setAttribute('aria-label', `${nameOfCommand(command)}: ${outcomeWords(command)}`);
  }
}
