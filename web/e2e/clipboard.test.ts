import { expect, test as base } from './harness/fixtures';

/** A person whose browser lets the page use the clipboard. */
const test = base.extend<{ clipboard: { read(): Promise<string>; write(text: string): Promise<void> } }>({
  clipboard: async ({ person }, use) => {
    await person.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await use({
      read: () => person.page.evaluate(() => navigator.clipboard.readText()),
      write: (text) => person.page.evaluate((clip) => navigator.clipboard.writeText(clip), text),
    });
  },
});

test('Ctrl+Shift+C copies what is selected, and Ctrl+C still interrupts', async ({ app, page, clipboard }) => {
  await app.run('clear; echo copy-this-word; sleep 1000');
  await app.sees(/^copy-this-word$/m);
  const word = (await page.locator('[role=tabpanel]:not([hidden]) .xterm-screen').boundingBox())!;
  await page.mouse.dblclick(word.x + 30, word.y + 8);
  await page.keyboard.press('Control+Shift+c');
  await expect.poll(() => clipboard.read()).toBe('copy-this-word');
  await page.keyboard.press('Control+c');
  await app.sees(/\^C\s+e2e:~\$$/);
});

test.for(['Control+v', 'Control+Shift+v'])('%s pastes once', async (keys, { app, page, clipboard }) => {
  await clipboard.write('echo "pasted – once"');
  await page.keyboard.press(keys);
  await app.sees(/\$ echo "pasted – once"$/);
  await page.keyboard.press('Enter');
  await app.sees(/^pasted – once$/m);
  expect((await app.settled()).match(/^pasted – once$/gm)).toHaveLength(1);
});
