import { byId } from '../dom.ts';

/** Lets a screen reader say a sentence when it comes to it. Nothing shows. */
export function announce(sentence: string): void {
  const list = byId('announcements');
  list.textContent = list.textContent === sentence ? `${sentence}\u00a0` : sentence; // the same text would not be said twice
}
