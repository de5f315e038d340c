import { byId, h } from './dom.ts';

/** How long a notice stays, in milliseconds. */
const STAY = 7_000;

/** Shows a sentence at the edge of the page for a while. The same one again only stays longer. */
export function notify(text: string): void {
  const list = byId('notices');
  for (const notice of list.children) {
    if (notice.textContent === text) notice.remove();
  }
  const notice = h('p', { class: 'notice' }, text);
  list.append(notice);
  setTimeout(() => notice.remove(), STAY);
}
