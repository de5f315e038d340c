import { describe } from 'vitest';
import { expect, test } from './harness/fixtures';
import { prompt, startTandem } from './harness/server';

const phone = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true } as const;

describe('a second device', () => {
  test('sees and types into the same shell', async ({ app, visitor, tandem }) => {
    await app.run('echo from the desk');
    await app.sees(/^from the desk$/m);
    const other = await visitor();
    await other.app.open(await tandem.link());
    await other.app.sees(/^from the desk$/m);
    await other.app.focus();
    await other.app.run('echo from the sofa');
    await app.sees(/^from the sofa$/m);
  });

  test('shrinks the terminal only while it shows it', async ({ app, visitor, tandem }) => {
    const size = async (): Promise<string> => {
      await app.run('clear; echo "size $(stty size)"');
      await app.sees(/^size \d+ \d+$/m);
      return /^size (.*)$/m.exec(await app.settled())?.[1] ?? '';
    };
    const desk = await size();
    const small = await visitor(phone);
    await small.app.open(await tandem.link());
    await expect.poll(size).not.toBe(desk);
    expect(await small.app.settled()).toBe(await app.settled());
    await small.app.newTab(); // it shows another terminal now
    await expect.poll(size).toBe(desk);
  });
});

test('everything works under a base path', async ({ visitor }) => {
  const tandem = await startTandem({ TANDEM_BASE_PATH: '/deep/tandem' });
  try {
    const { app, page, context } = await visitor();
    await app.open(await tandem.link());
    expect(new URL(page.url()).pathname).toBe('/deep/tandem/');
    await app.run('echo under $((1+1))');
    await app.sees(/^under 2$/m);
    await page.reload();
    await app.sees(/^under 2$/m);
    await app.newTab();
    await app.sees(prompt);
    await context.close();
  } finally {
    await tandem.dispose();
  }
});

test('every control has a name', async ({ app, page }) => {
  expect(await app.nameless()).toEqual([]);
  for (const dialog of ['Devices', 'Settings', 'Help']) {
    await page.getByRole('button', { name: dialog }).click();
    await page.getByRole('dialog').waitFor();
    expect(await app.nameless()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }
});
