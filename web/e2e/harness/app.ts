import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { prompt, until } from './server';

/** Tandem's interface as a person sees it: tabs, the shown terminal, its keys. */
export class App {
  constructor(readonly page: Page) {}

  /** Opens a login link and waits for the first shell's prompt. */
  async open(link: string): Promise<void> {
    await this.page.goto(link);
    await this.sees(prompt);
  }

  get tabs(): Locator {
    return this.page.getByRole('tab');
  }

  get activeTab(): Locator {
    return this.page.locator('[role=tab][aria-selected=true]');
  }

  get newButton(): Locator {
    return this.page.getByRole('button', { name: /^New (tab|terminal)$/ }).first();
  }

  /** Tabs by what a screen reader calls them: the title, then what is unusual. */
  tab(name: string | RegExp): Locator {
    return this.page.getByRole('tab', { name });
  }

  /** What is said over the shown terminal. */
  get banner(): Locator {
    return this.page.locator('[role=tabpanel]:not([hidden]) .banner');
  }

  /** The card by which a program asks. */
  card(program: string): Locator {
    return this.page.getByRole('group', { name: new RegExp(`^${program} asks`) });
  }

  /** Answers a program's card by a button, once the card has been there long enough. */
  async answer(program: string, answer: string | RegExp): Promise<void> {
    const card = this.card(program);
    const button = card.getByRole('button', { name: answer });
    await card.waitFor();
    await this.pressUntilAnswered(card, () => button.click({ timeout: 1_000 }));
  }

  /** Presses until a card takes the answer. What comes after that goes to the terminal. */
  async pressUntilAnswered(card: Locator, press: () => Promise<void>): Promise<void> {
    const open = card.and(this.page.locator(':not([aria-busy=true])'));
    await until(async () => {
      if ((await open.count()) > 0) await press();
      return (await open.count()) === 0;
    }, 'the card to take an answer');
    await card.waitFor({ state: 'detached' });
  }

  /** Opens the current tab's menu by its key, and chooses. */
  async choose(item: string | RegExp): Promise<void> {
    await this.page.keyboard.press('Control+Shift+S');
    const menu = this.page.getByRole('menu');
    await menu.getByRole('menuitem', { name: item }).or(menu.getByRole('menuitemradio', { name: item })).click();
    await menu.waitFor({ state: 'detached' });
  }

  dialog(name: string): Locator {
    return this.page.getByRole('dialog', { name });
  }

  /** Presses the button for a new tab and waits for its prompt. */
  async newTab(): Promise<void> {
    const before = await this.tabs.count();
    await this.newButton.click();
    await expect.poll(() => this.tabs.count()).toBe(before + 1);
    await this.sees(prompt);
  }

  /** Types into the shown terminal, key by key. */
  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
  }

  /** Types a command and Enter. */
  async run(command: string): Promise<void> {
    await this.page.keyboard.insertText(command);
    await this.page.keyboard.press('Enter');
  }

  /** Gives the shown terminal the keyboard, as a click into it does. */
  async focus(): Promise<void> {
    await this.page.locator('[role=tabpanel]:not([hidden]) .xterm-screen').click();
  }

  /** Rows of the shown terminal, top to bottom, without trailing blanks. */
  async rows(): Promise<string[]> {
    return this.page.evaluate(() => {
      const panel = [...document.querySelectorAll<HTMLElement>('[role=tabpanel]')].find((each) => each.offsetParent !== null);
      const rows = [...(panel?.querySelectorAll('.xterm-rows > div') ?? [])];
      return rows.map((row) => (row.textContent ?? '').replaceAll('\u00a0', ' ').trimEnd());
    });
  }

  /** The shown terminal's text without the blank rows at its end. */
  async screen(): Promise<string> {
    return (await this.rows()).join('\n').trimEnd();
  }

  /** Waits until the screen holds a text or matches a pattern. */
  async sees(wanted: string | RegExp, timeout?: number): Promise<void> {
    const poll = expect.poll(() => this.screen(), { timeout });
    await (typeof wanted === 'string' ? poll.toContain(wanted) : poll.toMatch(wanted));
  }

  /** Waits until the screen's text stays the same for a quarter of a second, and returns it. */
  async settled(): Promise<string> {
    let last = await this.screen();
    let since = Date.now();
    const end = since + 15_000;
    while (Date.now() - since < 250) {
      if (Date.now() > end) throw new Error(`the screen did not come to rest:\n${last}`);
      await this.page.waitForTimeout(50);
      const now = await this.screen();
      if (now !== last) [last, since] = [now, Date.now()];
    }
    return last;
  }

  /** The controls that show and have no name for a screen reader, as they begin in HTML. */
  async nameless(): Promise<string[]> {
    return this.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('button, input, select, textarea, dialog, [role=tab], [role=dialog], [role=menu], [role=group]')]
        .filter((each) => each.checkVisibility())
        .filter((each) => {
          const labels = (each.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '');
          const own = (each as HTMLInputElement).labels?.length ? 'labelled' : each.textContent;
          return ![each.getAttribute('aria-label'), labels.join(''), own].some((name) => name?.trim());
        })
        .map((each) => each.outerHTML.slice(0, 120)),
    );
  }

  /** Pastes as Ctrl+V does: the browser's own paste event, with this text on the clipboard. */
  async paste(text: string): Promise<void> {
    await this.page.evaluate((clip) => {
      const data = new DataTransfer();
      data.setData('text/plain', clip);
      document.activeElement?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, text);
  }
}
