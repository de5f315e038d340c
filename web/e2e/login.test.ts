import { describe } from 'vitest';
import type { Page } from 'playwright-core';
import { expect, type Visitor, test } from './harness/fixtures';
import { prompt, startTandem } from './harness/server';

const refused = /status of (401|410|429)/;

describe('a login link', () => {
  test('opens a shell, and leaves the address bar', async ({ app, page, tandem }) => {
    await app.type('echo hello $((6*7))\n');
    await app.sees('hello 42');
    expect(page.url()).toBe(`${tandem.url}/`);
    await page.goBack().catch(() => null);
    expect(page.url()).not.toContain('login=');
  });

  test('works once', async ({ tandem, visitor }) => {
    const link = await tandem.link();
    const first = await visitor();
    await first.app.open(link);
    const second = await visitor();
    second.complaints.expect(refused);
    await second.page.goto(link);
    await second.page.getByRole('alert').filter({ hasText: /link/i }).waitFor();
    await second.page.getByLabel('Password', { exact: true }).waitFor();
    expect(second.page.url()).not.toContain('login=');
  });
});

describe('a password', () => {
  test('lets in, and a wrong one does not', async ({ visitor }) => {
    const tandem = await startTandem({ TANDEM_PASSWORD: 'correct horse battery' });
    try {
      const { app, page, complaints, context } = await visitor();
      complaints.expect(refused);
      await page.goto(tandem.url);
      await page.getByLabel('Password', { exact: true }).fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: /password/i }).waitFor();
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
      await page.keyboard.press('Enter');
      await app.sees(prompt);
      const [cookie] = await context.cookies();
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
      await context.close();
    } finally {
      await tandem.dispose();
    }
  });
});

describe('devices', () => {
  test('logging out shows the login, and a new link brings the same tabs back', async ({ person, tandem, app, page }) => {
    person.complaints.expect(refused);
    await app.run('echo kept by the server');
    await app.sees(/^kept by the server$/m);
    const dialog = await openDevices(person);
    await dialog.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Password', { exact: true }).waitFor();
    expect(await person.context.cookies()).toEqual([]);
    await app.open(await tandem.link());
    await app.sees(/^kept by the server$/m);
  });

  test('revoking another device ends its session at once, in place', async ({ person, tandem, visitor }) => {
    const other = await visitor();
    other.complaints.expect(refused);
    await other.app.open(await tandem.link());
    const dialog = await openDevices(person);
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(2);
    await dialog.getByRole('button', { name: /^Revoke/ }).click();
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(1);
    await other.page.getByLabel('Password', { exact: true }).waitFor();
    await closeDialog(person.page);
    await person.app.focus();
    await person.app.type('echo not me\n');
    await person.app.sees(/^not me$/m);
  });
});

async function openDevices({ app, page }: Visitor) {
  await page.getByRole('button', { name: 'Devices' }).click();
  const dialog = app.dialog('Devices');
  await dialog.waitFor();
  return dialog;
}

async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}
