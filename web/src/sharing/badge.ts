import { h, icon } from '../dom.ts';
import { nameOf, type TabSharing } from './tab-sharing.ts';

/**
 * The mark of a tab in the tab list: who holds it or where it runs, how many watch, whether it is private. Empty when nothing is unusual.
 * Screen readers get the same from the tab's name.
 */
export class Badge {
  readonly element = h('span', { class: 'badge', 'aria-hidden': 'true', hidden: true });

  show(sharing: TabSharing | undefined): void {
    const marks: HTMLElement[] = [];
    if (sharing?.mode === 'private') marks.push(h('span', { class: 'badge-mark' }, icon('icon-lock')));
    if (sharing && sharing.watchers.length > 0) {
      marks.push(h('span', { class: 'badge-mark' }, icon('icon-eye'), String(sharing.watchers.length)));
    }
    if (sharing?.holder) {
      const kind = icon(sharing.holder.kind === 'session' ? 'icon-session' : 'icon-program');
      marks.push(h('span', { class: 'badge-holder' }, kind, h('span', { class: 'badge-name' }, nameOf(sharing.holder))));
    }
    if (sharing?.device !== undefined) {
      marks.push(h('span', { class: 'badge-holder' }, icon('icon-laptop'), h('span', { class: 'badge-name' }, sharing.device)));
    }
    this.element.replaceChildren(...marks);
    this.element.hidden = marks.length === 0;
  }
}
