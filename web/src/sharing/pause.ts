import { button, byId, h, keepFocus } from '../dom.ts';
import { announce } from './announce.ts';

/** The switch in the bar that pauses all programs, and the words beside it while it is on. */
export class PauseSwitch {
  private readonly control = byId<HTMLButtonElement>('pause');
  private readonly strip = byId('paused');

  /** `set` is called when the person wants programs paused, or going on. */
  constructor(private readonly set: (paused: boolean) => void) {
    this.control.addEventListener('click', () => this.toggle());
    const resume = button('Resume', () => {
      if (document.activeElement === resume) this.control.focus(); // the button goes with the words
      this.set(false);
    }, 'small');
    for (const element of [this.control, resume]) keepFocus(element);
    this.strip.append(h('span', {}, 'Programs are paused'), resume);
  }

  get paused(): boolean {
    return this.control.getAttribute('aria-checked') === 'true';
  }

  /** Shows whether programs are paused; undefined while that is not known. */
  show(paused: boolean | undefined): void {
    this.control.disabled = paused === undefined;
    if (paused === undefined || paused === this.paused) return;
    this.control.setAttribute('aria-checked', String(paused));
    this.control.title = `${paused ? 'Resume' : 'Pause'} programs (Ctrl+Shift+H)`;
    this.strip.hidden = !paused;
    announce(paused ? 'Programs are paused.' : 'Programs go on.');
  }

  /** Asks for the other state, as the shortcut does. */
  toggle(): void {
    if (!this.control.disabled) this.set(!this.paused);
  }
}
