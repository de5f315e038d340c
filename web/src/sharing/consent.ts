import type { Answer, ConsentRequest, URI } from '../ahp/types.ts';
import { button, h, icon, keepFocus } from '../dom.ts';
import { announce } from './announce.ts';

/** What a person does with the cards. */
export interface ConsentEvents {
  /** Resolves once the server has answered; until then the card takes no other answer. Must not reject. */
  answer(id: string, answer: Answer): Promise<void>;
  /** The person wants to see the terminal. */
  select(resource: URI): void;
  /** The keyboard leaves the cards, which did not have it when they came. */
  leave(): void;
}

/**
 * How long a card must have been in its place before a press counts, in milliseconds: whoever was about to press what was
 * there before does not answer.
 */
const SETTLE = 500;

/** The keys that move to the cards, as the announcement names them. */
const KEYS = 'Control Shift End';

/** Cards beside the terminal, one for each program that asks. They never take the keyboard by themselves. */
export class ConsentCards {
  private readonly cards = new Map<string, HTMLElement>();
  private movedAt = 0;

  /** The cards are shown inside `list`. */
  constructor(
    private readonly list: HTMLElement,
    private readonly events: ConsentEvents,
  ) {
    list.addEventListener('keydown', (event) => this.handleKey(event));
  }

  /** Shows these requests, oldest first, and no others. `titleOf` names their terminals. */
  show(requests: readonly ConsentRequest[], titleOf: (resource: URI) => string): void {
    const before = [...this.cards.keys()].join();
    const focused = [...this.cards].findIndex(([, card]) => card.contains(document.activeElement));
    for (const [id, card] of this.cards) {
      if (requests.some((request) => request.id === id)) continue;
      card.remove();
      this.cards.delete(id);
    }
    const asked: string[] = [];
    for (const request of requests) {
      const title = titleOf(request.resource);
      const card = this.cards.get(request.id);
      if (card) {
        card.querySelector('.consent-tab')!.textContent = title;
        continue;
      }
      this.add(request, title);
      asked.push(`${request.program} asks to use the terminal ${title}.`);
    }
    if ([...this.cards.keys()].join() !== before) this.movedAt = performance.now();
    if (asked.length > 0) announce(`${asked.join(' ')} ${KEYS} moves there.`);
    if (focused >= 0 && !this.list.contains(document.activeElement)) this.leaveGone(focused);
  }

  /** Moves the keyboard to the first card, or from a card to the next one. Returns whether there is any. */
  focus(): boolean {
    const cards = [...this.cards.values()];
    const at = cards.findIndex((card) => card.contains(document.activeElement));
    const card = cards[(at + 1) % cards.length];
    card?.focus();
    return card !== undefined;
  }

  private add({ id, resource, program, session }: ConsentRequest, title: string): void {
    const question = `consent-${id}`;
    const tab = h('button', { type: 'button', class: 'consent-tab' }, title);
    tab.addEventListener('click', () => this.events.select(resource));
    const answers: [Answer, string, string][] = [
      ['once', 'Once', `${program} may use the terminal this time.`],
      ['tab', 'This tab', `${program} may use this terminal whenever it asks.`],
      ['always', `Always for ${program}`, `${program} may use every terminal that is set to Ask.`],
      ['no', 'No', `${program} may not use the terminal.`],
    ];
    const card = h(
      'div',
      { class: 'consent', role: 'group', 'aria-labelledby': question, tabindex: -1 },
      icon('icon-program'),
      h('p', { class: 'consent-question', id: question }, h('strong', {}, program), ' asks to use ', tab),
      h('p', { class: 'quiet' }, session !== undefined ? 'You can type along, and take it back.' : 'Your first key takes it back.'),
      h('div', { class: 'actions' }, ...answers.map(([answer, label, means]) => this.answerButton(id, answer, label, means))),
    );
    keepFocus(card);
    this.cards.set(id, card);
    this.list.append(card);
  }

  private answerButton(id: string, answer: Answer, label: string, means: string): HTMLElement {
    const element = button(label, () => void this.answer(id, answer), 'small');
    element.title = means;
    return element;
  }

  private async answer(id: string, answer: Answer): Promise<void> {
    const card = this.cards.get(id);
    if (!card || card.getAttribute('aria-busy') === 'true' || performance.now() - this.movedAt < SETTLE) return;
    card.setAttribute('aria-busy', 'true');
    await this.events.answer(id, answer);
    card.removeAttribute('aria-busy');
  }

  /** Moves the keyboard on from a card that went: to the one in its place, never to one of its buttons. */
  private leaveGone(index: number): void {
    const cards = [...this.cards.values()];
    const next = cards[index] ?? cards.at(-1);
    if (next) next.focus();
    else this.events.leave();
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    this.events.leave();
  }
}
