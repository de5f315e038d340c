import { describe } from 'vitest';
import { expect, picture, test, type Visitor } from './harness/fixtures';
import { startTandem } from './harness/server';

// The pictures in artifacts/ are for people to look at; the assertions hold what a picture cannot prove.

/** A screen with colours, widths and shapes: what a day's terminal shows. */
const scene = String.raw`clear; PS1='\[\e[1;34m\]~/tandem\[\e[0m\] \[\e[32m\]main\[\e[0m\] $ '; printf '\e[1mbold\e[0m \e[3mitalic\e[0m \e[4munderlined\e[0m \e[7minverse\e[0m \e[9mstruck\e[0m\n'; for i in {0..7}; do printf "\e[4${"${i}"}m   "; done; printf '\e[0m\n'; for i in {0..7}; do printf "\e[10${"${i}"}m   "; done; printf '\e[0m\n┌────────┬───────┐\n│ 漢字   │ ▁▂▃▅▇ │\n├────────┼───────┤\n│ 👩‍🔬 é ✓ │ ░▒▓█  │\n└────────┴───────┘\n'; ls --color=always -la /usr/share | head -12`;

describe.each([
  { name: 'desk dark', options: { colorScheme: 'dark', viewport: { width: 1200, height: 760 } } },
  { name: 'desk light', options: { colorScheme: 'light', viewport: { width: 1200, height: 760 } } },
  { name: 'phone dark', options: { colorScheme: 'dark', viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 } },
  { name: 'phone light', options: { colorScheme: 'light', viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 } },
] as const)('$name', ({ name, options }) => {
  test('session, tabs, dialogs and states', async ({ tandem, visitor }) => {
    const person = await visitor(options);
    const { app, page } = person;
    await page.goto(tandem.url);
    await page.getByLabel('Password', { exact: true }).waitFor();
    await picture(page, `${name} login`);
    await page.goto('about:blank');
    await app.open(await tandem.link());
    await app.run(scene);
    await app.sees('└────────┴───────┘');
    await app.newTab();
    await app.run('cd /usr/share && exit 3');
    await page.getByRole('button', { name: 'Restart' }).waitFor();
    await picture(page, `${name} failed`);
    await app.tabs.first().click();
    await app.settled();
    await picture(page, `${name} session`);
    await noSidewaysScroll(person);
    await app.activeTab.dblclick();
    await app.dialog('Rename terminal').waitFor();
    await picture(page, `${name} rename`);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Devices' }).click();
    await app.dialog('Devices').getByRole('listitem').first().waitFor();
    await picture(page, `${name} devices`);
    await noSidewaysScroll(person);
    for (const dialog of ['Settings', 'Help']) {
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: dialog }).click();
      await page.getByRole('dialog').waitFor();
      await picture(page, `${name} ${dialog}`);
      await noSidewaysScroll(person);
    }
  });

  test('programs at work', async ({ tandem, visitor, program }) => {
    const person = await visitor(options);
    const { app, page } = person;
    await app.open(await tandem.link());
    await app.run(scene);
    await app.sees('└────────┴───────┘');
    const claude = await program('claude');
    const [tab] = claude.terminals;
    await claude.subscribe(tab!);
    const codex = await program('a program with a rather long name');
    await claude.create('build');
    await codex.subscribe(tab!);
    expect(await claude.claim(tab!)).toBe('asked the person');
    await app.card('claude').waitFor();
    await picture(page, `${name} asked`);
    await noSidewaysScroll(person);
    expect(await codex.claim(tab!, 'ahp-session:/s1')).toBe('asked the person');
    await app.card(codex.name).waitFor();
    await picture(page, `${name} asked twice`);
    expect(await app.nameless()).toEqual([]);
    await noSidewaysScroll(person);
    await app.answer(codex.name, 'No');
    await app.answer('claude', 'Once');
    await app.banner.getByText('claude is using this terminal').waitFor();
    await app.settled();
    await picture(page, `${name} held`);
    await noSidewaysScroll(person);
    await page.keyboard.press('Control+Shift+S');
    await page.getByRole('menu').waitFor();
    await picture(page, `${name} menu`);
    expect(await app.nameless()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Shift+H');
    await app.banner.getByText('claude is paused in this terminal').waitFor();
    await picture(page, `${name} paused`);
    await noSidewaysScroll(person);
    await page.keyboard.press('Control+Shift+H');
    await page.keyboard.press('Control+Shift+Backspace');
    await app.banner.getByText('claude is using this terminal').waitFor({ state: 'hidden' });
    await app.choose('Private');
    await app.tab(/private/).waitFor();
    await picture(page, `${name} private`);
    await noSidewaysScroll(person);
  });

  test('the states without a shell', async ({ visitor }) => {
    const tandem = await startTandem({ TANDEM_MAX_TERMINALS: '1' });
    try {
      const { app, page, complaints, context } = await visitor(options);
      complaints.expect(/status of (401|404)|net::ERR_|WebSocket connection to .* failed/);
      await app.open(await tandem.link());
      await app.newButton.click();
      await page.getByText(/terminals?\b/i).first().waitFor();
      await page.waitForTimeout(300); // a notice may slide in
      await picture(page, `${name} limit`);
      await app.run('cd /tmp; echo these were my last words');
      await app.sees(/^these were/m);
      await tandem.stop();
      await page.getByRole('status').filter({ visible: true, hasText: /reconnect/i }).first().waitFor();
      await picture(page, `${name} reconnecting`);
      await tandem.restart();
      await page.getByText(/ended with the server/i).first().waitFor();
      await picture(page, `${name} ended with the server`);
      await page.getByRole('button', { name: /^New shell/ }).first().click();
      await app.sees(/^e2e:.*\$$/);
      await app.run('exit');
      await expect.poll(() => app.tabs.count()).toBe(0);
      await picture(page, `${name} empty`);
      await context.close();
    } finally {
      await tandem.dispose();
    }
  });
});

/** Nothing reaches past the window's right edge. */
async function noSidewaysScroll({ page }: Visitor): Promise<void> {
  const { content, window: width } = await page.evaluate(() => ({ content: document.documentElement.scrollWidth, window: window.innerWidth }));
  expect(content).toBeLessThanOrEqual(width);
}
