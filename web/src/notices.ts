import { byId, h } from './dom.ts';

/** How long a notice stays, in milliseconds. */
const STAY = 7_000;

/** Shows a sentence at the edge of the page for a while. The same one again only stays longer. */
export function notify(sentence: string): void {
  const text = sentence.charAt(0).toUpperCase() + sentence.slice(1); // the server's errors begin in lower case
  const list = byId('notices');
  for (const notice of list.children) {
    if (notice.textContent === text) notice.remove();
  }
  const notice = h('p', { class: 'notice' }, text);
  list.append(notice);
  setTimeout(() => notice.remove(), STAY);
}
