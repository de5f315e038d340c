import type { Holder } from './ahp/types.ts';
import { button, h, keepFocus } from './dom.ts';
import type { PasteProgress } from './lane/input.ts';
import { nameOf } from './sharing/tab-sharing.ts';

/** A connection that is back within so many milliseconds was never seen to be away. */
const QUIET = 500;

/** How long "not sent" stays after the last key that was refused, in milliseconds. */
const NOT_SENT = 2_000;

/** A paste longer than this is shown on its way, in bytes. */
const LONG_PASTE = 256 * 1024;

/** What is said over a terminal: that it is disconnected, has ended, is gone, or that somebody else drives it. */
export class Status {
  private readonly banner = h('div', { class: 'banner', role: 'status', hidden: true });
  private readonly text = h('span');
  private readonly now = button('Reconnect now', () => this.reconnect?.(), 'small');
  private readonly back = button('Take back', () => this.takeBack?.(), 'small');
  private panel: HTMLElement | undefined;
  private reconnect: (() => void) | undefined;
  private takeBack: (() => void) | undefined;
  private holder: Holder | undefined;
  private paused = false;
  private reason = '';
  private away = false;
  private isReadOnly = false;
  private device: string | undefined;
  private paste: PasteProgress | undefined;
  private quiet: ReturnType<typeof setTimeout> | undefined;
  private refusal: ReturnType<typeof setTimeout> | undefined;

  /** Everything is shown inside `parent`. */
  constructor(private readonly parent: HTMLElement) {
    keepFocus(this.back);
    this.banner.append(this.text, this.now, this.back);
    parent.append(this.banner);
  }

  /** Says that the connection is lost or back. `reconnect` is called by the button beside it. */
  disconnected(away: boolean, reconnect?: () => void): void {
    if (reconnect) this.reconnect = reconnect;
    if (away === this.away) return;
    this.away = away;
    clearTimeout(this.quiet);
    if (away) this.quiet = setTimeout(() => this.draw(), QUIET);
    else this.draw();
  }

  /** Says whether typing is switched off. */
  readOnly(on: boolean): void {
    this.isReadOnly = on;
    if (!this.away) this.draw();
  }

  /** Says at which device the shell runs, if it is another one than the server. */
  runsAt(device: string | undefined): void {
    this.device = device;
    if (!this.away) this.draw();
  }

  /**
   * Says which program or session drives the terminal, and whether programs are paused; undefined when a person drives.
   * `takeBack` is called by the button beside it.
   */
  heldBy(holder: Holder | undefined, paused: boolean, takeBack: () => void): void {
    this.takeBack = takeBack;
    if (holder?.client === this.holder?.client && holder?.name === this.holder?.name && paused === this.paused) return; // said once
    this.holder = holder;
    this.paused = paused;
    this.draw();
  }

  /** Says for a moment that what was typed was not sent, and why: a clause without a full stop. */
  notSent(reason: string): void {
    this.reason = reason;
    clearTimeout(this.refusal);
    this.refusal = setTimeout(() => {
      this.refusal = undefined;
      this.draw();
    }, NOT_SENT);
    this.draw();
  }

  /** Says how far a paste has come that takes longer than a moment; undefined when it is over. */
  pasting(progress: PasteProgress | undefined): void {
    this.paste = progress && progress.total > LONG_PASTE ? progress : undefined;
    this.draw();
  }

  /** Says below the output how the terminal ended, and what can be done. */
  ended(text: string, ...actions: HTMLButtonElement[]): void {
    const bar = h('div', { class: 'exit-bar', role: 'status' }, h('span', {}, text), h('div', { class: 'actions' }, ...actions));
    this.showPanel(bar);
    this.draw();
  }

  /** Moves the keyboard to the first action, if there is one, and returns whether there was. */
  focus(): boolean {
    const action = this.panel?.querySelector('button');
    action?.focus();
    return action !== null && action !== undefined;
  }

  dispose(): void {
    clearTimeout(this.quiet);
    clearTimeout(this.refusal);
  }

  private showPanel(panel: HTMLElement): void {
    const focused = this.parent.contains(document.activeElement);
    this.panel?.remove();
    this.panel = panel;
    this.parent.append(panel);
    if (focused) this.focus();
  }

  private draw(): void {
    const refused = this.refusal !== undefined;
    const readOnly = this.isReadOnly && !this.panel; // what has ended is no matter of rights
    const remote = this.device !== undefined && !this.away && !refused && !this.panel;
    const held = !this.away && !this.paste && !refused && !readOnly && !remote ? this.holder : undefined;
    this.banner.hidden = !this.away && !refused && !readOnly && !this.paste && !held && !remote;
    this.banner.classList.toggle('refused', refused);
    this.banner.classList.toggle('held', held !== undefined || remote);
    this.now.hidden = !this.away;
    this.back.hidden = !held;
    if (this.away) this.text.textContent = refused ? 'Not sent: reconnecting…' : 'Connection lost. Reconnecting…';
    else if (this.paste) this.text.textContent = `Pasting: ${percent(this.paste)} % sent. Any key stops it.`;
    else if (refused) this.text.textContent = `Not sent: ${this.reason}.`;
    else if (remote) this.text.replaceChildren(h('strong', {}, `Local to ${this.device}`), h('span', { class: 'banner-hint' }, ' · type there'));
    else if (readOnly) this.text.textContent = 'You can read this terminal, but not type.';
    else if (held) this.text.replaceChildren(...heldWords(held, this.paused));
  }
}

function heldWords(holder: Holder, paused: boolean): Node[] {
  const hint = holder.kind === 'session' ? 'you can type along' : 'type to take it back';
  return [
    h('strong', {}, nameOf(holder)),
    document.createTextNode(paused ? ' is paused in this terminal' : ' is using this terminal'),
    h('span', { class: 'banner-hint' }, ` · ${hint}`),
  ];
}

function percent({ taken, total }: PasteProgress): number {
  return Math.floor((100 * taken) / total);
}
