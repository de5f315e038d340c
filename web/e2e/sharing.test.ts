import { describe } from 'vitest';
import { App } from './harness/app';
import { watch } from './harness/console';
import { expect, test } from './harness/fixtures';
import type { Program } from './harness/program';
import { prompt } from './harness/server';

const held = 'the person holds this terminal: claim it first';

describe('a program', () => {
  test('opens a terminal: a tab appears, and the keyboard stays where it was', async ({ app, program }) => {
    const claude = await program('claude');
    await app.type('echo one');
    const own = await claude.create('build');
    await app.tab(/^build \(used by claude/).waitFor();
    await app.type('two\n');
    await app.sees(/^onetwo$/m);
    expect(await app.activeTab.textContent()).not.toContain('build');
    expect(await claude.type(own, 'echo "sum $((40 + 2))"\r')).toBe('done');
    await expect.poll(() => claude.text(own)).toContain('sum 42');
    await app.tab(/^build/).click();
    await app.sees('sum 42');
    await app.banner.getByText('claude is using this terminal').waitFor();
  });

  test('asks for a tab, gets it once, and the first key takes it back', async ({ app, program }) => {
    const { claude, tab } = await meet(program);
    expect(await claude.type(tab, 'echo sneaked in\r')).toBe(held);
    expect(await claude.claim(tab)).toBe('asked the person');
    await app.card('claude').waitFor();
    await app.run('echo "still $((1 + 1))"'); // the card has not taken the keyboard
    await app.sees('still 2');
    expect(claude.holds(tab)).toBe(false);

    await app.answer('claude', 'Once');
    await expect.poll(() => claude.holds(tab)).toBe(true);
    await app.tab(/used by claude/).waitFor();
    await app.banner.getByText('claude is using this terminal').waitFor();
    expect(await claude.type(tab, 'echo "made $((6 * 7))"\r')).toBe('done');
    await app.sees('made 42');
    await expect.poll(() => claude.text(tab)).toContain('made 42');

    await app.type('e');
    await expect.poll(() => claude.holds(tab)).toBe(false);
    await app.tab(/used by/).waitFor({ state: 'detached' });
    await app.banner.waitFor({ state: 'hidden' });
    expect(await claude.type(tab, 'rm -rf /\r')).toBe(held);
    await app.type('cho "taken $((3 + 3))"\n'); // the first key was not lost
    await app.sees('taken 6');
    expect(await app.screen()).not.toMatch(/sneaked|rm -rf/);
    expect(await claude.claim(tab)).toBe('asked the person'); // once was once
  });

  test('is told no, and does not get to ask again', async ({ app, program }) => {
    const { claude, tab } = await meet(program);
    await claude.claim(tab);
    await app.answer('claude', 'No');
    expect(await claude.claim(tab)).toMatch(/the person said no/);
    expect(await app.card('claude').count()).toBe(0);
    const codex = await program('codex');
    expect(await codex.claim(tab)).toBe('asked the person'); // it was not codex that was told no
    await app.card('codex').waitFor();
    codex.close();
  });

  test('that may use a tab does not ask for it again, and one that may always for none', async ({ app, page, program }) => {
    const { claude, tab } = await meet(program);
    await claude.claim(tab);
    await app.answer('claude', 'This tab');
    await expect.poll(() => claude.holds(tab)).toBe(true);
    await page.keyboard.press('Control+Shift+Backspace');
    await expect.poll(() => claude.holds(tab)).toBe(false);
    expect(await claude.claim(tab)).toBe('done');

    await app.newTab();
    await expect.poll(() => claude.terminals.length).toBe(2);
    const other = claude.terminals.find((each) => each !== tab)!;
    await claude.subscribe(other);
    expect(await claude.claim(other)).toBe('asked the person');
    await app.answer('claude', /^Always/);
    await expect.poll(() => claude.holds(other)).toBe(true);
    await app.newTab();
    await expect.poll(() => claude.terminals.length).toBe(3);
    const third = claude.terminals.find((each) => each !== tab && each !== other)!;
    await claude.subscribe(third);
    expect(await claude.claim(third)).toBe('done');
    expect(await app.card('claude').count()).toBe(0);
  });

  test('is answered by the keyboard alone', async ({ app, page, program }) => {
    const { claude, tab } = await meet(program);
    await claude.claim(tab);
    const card = app.card('claude');
    await card.waitFor();
    await page.keyboard.press('Control+Shift+End');
    await expect.poll(() => card.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('Escape'); // back in the terminal
    await app.run('echo "back $((4 + 4))"');
    await app.sees('back 8');
    await page.keyboard.press('Control+Shift+End');
    const once = card.getByRole('button', { name: 'Once' });
    for (let stops = 0; stops < 2; stops++) await page.keyboard.press('Tab'); // the tab's name, then the first answer
    await expect.poll(() => once.evaluate((element) => element === document.activeElement)).toBe(true);
    await app.pressUntilAnswered(card, () => page.keyboard.press('Enter'));
    await expect.poll(() => claude.holds(tab)).toBe(true);
    await app.type('k'); // the keyboard is in the terminal again
    await expect.poll(() => claude.holds(tab)).toBe(false);
    await app.sees(`${prompt} k`);
  });

  test('closes its terminal: the tab goes, and keys go to no other shell', async ({ app, page, program }) => {
    const claude = await program('claude');
    const own = await claude.create('build');
    await app.tab(/^build/).click();
    await app.sees(prompt);
    await claude.request('disposeTerminal', { channel: own });
    await page.getByText('build was closed elsewhere.').waitFor();
    await expect.poll(() => app.tabs.count()).toBe(1);
    await app.type('stray\n');
    await app.focus();
    await app.run('echo "quiet $((5 + 5))"');
    await app.sees('quiet 10');
    expect(await app.screen()).not.toContain('stray');
  });
});

describe('the person', () => {
  test.for([
    ['the key', ({ page }: App) => page.keyboard.press('Control+Shift+Backspace')],
    ['the menu', (app: App) => app.choose('Take back')],
    ['the button', (app: App) => app.banner.getByRole('button', { name: 'Take back' }).click()],
  ] as const)('takes a tab back by %s', async ([, takeBack], { app, page, program }) => {
    const { claude, tab } = await meet(program);
    await app.choose('Share');
    await expect.poll(() => app.activeTab.getAttribute('title')).toContain('without asking');
    expect(await claude.claim(tab)).toBe('done');
    await app.tab(/used by claude/).waitFor();
    await takeBack(app);
    await expect.poll(() => claude.holds(tab)).toBe(false);
    await app.tab(/used by/).waitFor({ state: 'detached' });
    expect(await claude.type(tab, 'x')).toBe(held);
    await page.keyboard.type('echo mine\n'); // the keyboard is in the terminal
    await app.sees(/^mine$/m);
  });

  test('types along where a session works, and takes the tab back when asked to', async ({ app, page, program }) => {
    const { claude, tab } = await meet(program);
    await app.choose('Share');
    await expect.poll(() => app.activeTab.getAttribute('title')).toContain('without asking');
    expect(await claude.claim(tab, 'ahp-session:/s1')).toBe('done');
    await app.banner.getByText('you can type along').waitFor();
    await app.type('echo to');
    await app.sees(`${prompt} echo to`);
    expect(await claude.type(tab, 'gether\r')).toBe('done');
    await app.sees(/^together$/m);
    await app.tab(/used by claude/).waitFor();
    await page.keyboard.press('Control+Shift+Backspace');
    await app.tab(/used by/).waitFor({ state: 'detached' });
    expect(await claude.type(tab, 'x')).toBe(held);
  });

  test('makes a tab private, and programs know of no such tab', async ({ app, program }) => {
    const { claude, tab } = await meet(program);
    await app.run('echo "pub$((0))lic"');
    await expect.poll(() => claude.text(tab)).toContain('pub0lic');
    await app.choose('Private');
    await app.tab(/private/).waitFor();
    await expect.poll(() => claude.terminals).toEqual([]);
    await app.run('echo "sec$((0))ret"; printf "\\e]2;hidden title\\a"');
    await app.sees('sec0ret');

    const unknown = 'ahp-terminal:/no-such-terminal';
    const error = (channel: string) => claude.request('subscribe', { channel }).then(() => 'granted', ({ code, message }) => [code, message.replace(channel, 'X')]);
    expect(await error(tab)).toEqual(await error(unknown));
    expect(await claude.type(tab, 'intruder\r')).toBe('ignored');
    expect(await claude.claim(tab)).toBe('ignored');
    await claude.request('disposeTerminal', { channel: tab }); // as with one that is not there
    const codex = await program('codex');
    expect(codex.terminals).toEqual([]);

    await app.choose('Ask');
    await expect.poll(() => claude.terminals).toEqual([tab]);
    await claude.subscribe(tab);
    await app.run('echo "pub$((1))lic"');
    await expect.poll(() => claude.text(tab)).toContain('pub1lic');
    expect(JSON.stringify(claude.envelopes) + claude.text(tab)).not.toMatch(/sec0ret|sec\$/);
    expect(await app.screen()).not.toContain('intruder');
  });

  test('pauses all programs, and lets them go on', async ({ app, page, program }) => {
    const { claude, tab } = await meet(program);
    const own = await claude.create('build');
    await app.tab(/^build/).click();
    await app.banner.getByText('claude is using this terminal').waitFor();
    await page.keyboard.press('Control+Shift+H');
    await page.getByText('Programs are paused', { exact: true }).waitFor();
    await app.banner.getByText('claude is paused in this terminal').waitFor();

    const paused = 'programs are paused by the person';
    expect(await claude.type(own, 'echo not now\r')).toBe(paused);
    expect(await claude.claim(tab)).toBe(paused);
    await expect(claude.request('subscribe', { channel: tab })).rejects.toThrow(paused);
    await expect(claude.create()).rejects.toThrow(paused);
    await app.tabs.first().click();
    await app.run('echo "un$((7))seen"');
    await app.sees('un7seen');
    await claude.request('ping');
    expect(claude.text(tab)).not.toContain('un7seen');
    await page.reload(); // the switch is the server's
    await page.getByText('Programs are paused', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Programs are paused', { exact: true }).waitFor({ state: 'hidden' });
    await expect.poll(() => claude.text(tab)).toContain('un7seen');
    expect(await claude.type(own, 'echo "now $((7 + 7))"\r')).toBe('done');
    await expect.poll(() => claude.text(own)).toContain('now 14');
    expect(claude.text(own)).not.toContain('not now');
  });
});

test('two windows stay in step', async ({ app, person, tandem, complaints }) => {
  const page = await person.context.newPage();
  complaints.push(await watch(page));
  const other = new App(page);
  await other.open(tandem.url);

  await app.newTab();
  await expect.poll(() => other.tabs.count()).toBe(2);
  expect(await other.tabs.first().getAttribute('aria-selected')).toBe('true'); // it is where it was
  await app.choose(/^Rename/);
  await app.dialog('Rename terminal').getByRole('textbox').fill('build');
  await app.page.keyboard.press('Enter');
  await other.tab('build').click();
  await other.sees(prompt);
  await other.choose('Private');
  await app.tab('build (private)').waitFor();
  await app.choose('Watch');
  await other.tab('build (private)').waitFor({ state: 'detached' });
  await other.page.keyboard.press('Control+Shift+S');
  const menu = other.page.getByRole('menu');
  await menu.getByRole('menuitemradio', { name: 'Watch', checked: true }).waitFor();

  await app.choose(/^Close/); // while the other window has its menu open
  await expect.poll(() => app.tabs.count()).toBe(1);
  await expect.poll(() => other.tabs.count()).toBe(1);
  await menu.waitFor({ state: 'detached' });
  await page.getByText('build was closed elsewhere.').waitFor();
  await app.run('exit'); // nor does a shell that ends by itself stay in the other window
  await expect.poll(() => other.tabs.count()).toBe(0);
});

test('another device that watches is shown, and goes with its login', async ({ app, visitor, tandem }) => {
  const phone = await visitor({ userAgent: 'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36' });
  await phone.app.open(await tandem.link());
  await app.tab(/1 watching/).waitFor();
  await phone.context.close();
  await app.tab(/watching/).waitFor({ state: 'detached' });
});

/** Connects a program that reads the only tab. */
async function meet(program: (name: string) => Promise<Program>): Promise<{ claude: Program; tab: string }> {
  const claude = await program('claude');
  const [tab] = claude.terminals;
  if (tab === undefined) throw new Error('the program was told of no terminal');
  await claude.subscribe(tab);
  return { claude, tab };
}
