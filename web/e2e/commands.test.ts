import { describe } from 'vitest';
import type { App } from './harness/app';
import { expect, picture, test as base } from './harness/fixtures';
import type { Program } from './harness/program';
import { prompt } from './harness/server';

/** A person whose browser lets the page copy and notify, and keeps what it was notified of. */
const test = base.extend<{ clipboard: () => Promise<string>; notified: () => Promise<string[]> }>({
  clipboard: async ({ person }, use) => {
    await person.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await use(() => person.page.evaluate(() => navigator.clipboard.readText()));
  },
  notified: async ({ person }, use) => {
    await person.context.grantPermissions(['notifications']);
    await person.context.addInitScript(() => {
      const told: string[] = [];
      Object.assign(window, {
        told,
        Notification: class {
          static permission = 'granted';
          static requestPermission(): Promise<string> {
            return Promise.resolve('granted');
          }
          constructor(title: string, { body }: { body: string }) {
            told.push(`${title}: ${body}`);
          }
        },
      });
    });
    await person.page.reload();
    await person.app.sees(prompt);
    await use(() => person.page.evaluate(() => (window as unknown as { told: string[] }).told));
  },
});

const mark = (app: App, name: string | RegExp) => app.page.locator('[role=tabpanel]:not([hidden])').getByRole('button', { name });
const commands = (app: App) => app.page.getByRole('dialog', { name: /^Commands in/ });

describe('a mark', () => {
  test('shows what a command has come to, also after a reload', async ({ app, page }) => {
    await app.run('echo "sum $((1 + 1))"');
    await mark(app, /^echo .*: exit code 0, /).waitFor();
    await app.run('(exit 3)');
    const failed = mark(app, /^\(exit 3\): exit code 3, /);
    await failed.waitFor();
    await app.run('sleep 1000');
    await mark(app, 'sleep 1000: running').waitFor();
    const line = page.locator('.xterm-rows > div').filter({ hasText: '(exit 3)' });
    const [at, row] = [(await failed.boundingBox())!, (await line.boundingBox())!];
    expect(Math.abs(at.y - row.y)).toBeLessThan(3);
    expect(at.x + at.width).toBeLessThanOrEqual(row.x + 1);
    await picture(page, 'commands marks');
    await page.reload();
    await mark(app, 'sleep 1000: running').waitFor();
    await mark(app, /^\(exit 3\): exit code 3, /).waitFor();
    await page.keyboard.press('Control+c');
    await mark(app, /^sleep 1000: exit code 130, /).waitFor();
  });

  test('is not on the alternate screen', async ({ app, page }) => {
    await app.run('echo before');
    await mark(app, /^echo before: exit code 0/).waitFor();
    await app.run(String.raw`printf '\e[?1049h\e[Hinside'; read -r; printf '\e[?1049l'`);
    await app.sees(/^inside/);
    await expect.poll(() => page.locator('.command-mark').filter({ visible: true }).count()).toBe(0);
    await page.keyboard.press('Enter');
    await mark(app, /^echo before: exit code 0/).waitFor();
    await mark(app, /^printf .*: exit code 0/).waitFor();
  });

  test('offers the output, the command line and to run it again', async ({ app, page, clipboard }) => {
    const line = "printf 'a\\n%s\\nb\\n' $(printf 'x%.0s' {1..300})";
    await app.run(line);
    const done = mark(app, /^printf 'a.*: exit code 0/);
    await done.click();
    const menu = page.getByRole('menu');
    await picture(page, 'commands menu');
    await menu.getByRole('menuitem', { name: 'Copy output' }).click();
    await expect.poll(clipboard).toBe(`a\n${'x'.repeat(300)}\nb`);
    await done.click();
    await menu.getByRole('menuitem', { name: 'Copy command' }).click();
    await expect.poll(clipboard).toBe(line);
    await app.run('echo "n=$((++n))"');
    await app.sees(/^n=1$/m);
    await mark(app, /^echo "n=.*: exit code 0/).waitFor();
    await app.type('half a line');
    await app.sees(/half a line$/);
    await page.keyboard.press('Control+Shift+ArrowRight');
    await menu.getByRole('menuitem', { name: 'Run again' }).press('Enter');
    await app.sees(/^n=2$/m);
    await app.run('cat'); // while it runs, there is no shell to run anything
    await mark(app, 'cat: running').click();
    await menu.waitFor();
    expect(await menu.getByRole('menuitem', { name: 'Run again' }).count()).toBe(0);
  });
});

test('keys walk the commands, and the list finds one', async ({ app, page }) => {
  await app.run('echo the first');
  for (const n of [1, 2, 3]) await app.run(`seq ${n}00`);
  await app.sees(/^300\ne2e:~\$$/m);
  await page.keyboard.press('Control+Shift+ArrowUp');
  await app.sees(/\$ seq 300$/m);
  await page.keyboard.press('Control+Shift+ArrowUp');
  await app.sees(/\$ seq 200$/m);
  await expect.poll(() => mark(app, /^seq 200/).getAttribute('class')).toContain('selected');
  await page.keyboard.press('Control+Shift+ArrowDown');
  await app.sees(/\$ seq 300$/m);

  await page.keyboard.press('Control+Shift+F');
  const list = commands(app);
  await expect.poll(() => list.getByRole('option').count()).toBe(4);
  expect(await list.getByRole('option').first().textContent()).toMatch(/^seq 300exit 0[\d.]+ s\d\d:\d\d$/);
  await picture(page, 'commands list');
  await page.keyboard.type('first');
  await expect.poll(() => list.getByRole('option').count()).toBe(1);
  await page.keyboard.press('Enter');
  await list.waitFor({ state: 'detached' });
  await app.sees(/\$ echo the first$/m);
  await app.run('echo "back $((2 * 2))"'); // the keyboard is in the terminal
  await app.sees('back 4');

  await page.keyboard.press('Control+Shift+L'); // what was cleared is in no list
  await expect.poll(() => mark(app, /^echo the first/).count()).toBe(0);
  await app.choose('Commands…');
  await expect.poll(() => commands(app).getByRole('option', { name: 'first' }).count()).toBe(0);
  expect(await app.nameless()).toEqual([]);
});

test('a long command that ends in a hidden tab is told, and marks the tab', async ({ app, page, notified }) => {
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByLabel('Notify when a long command ends').check();
  await page.keyboard.press('Escape');
  await app.focus();
  await app.run('sleep 10.1; false');
  await expect.poll(() => app.activeTab.textContent()).toBe('sleep 10.1; false');
  expect(await app.activeTab.getAttribute('title')).toContain('Running: sleep 10.1; false');
  await app.newTab();
  await app.run('sleep 1; true');
  await app.tab(/command failed/).waitFor();
  expect(await notified()).toEqual([expect.stringMatching(/^sleep 10\.1; false: exit code 1, 10 s/)]);
  await app.tabs.first().click();
  await app.tab(/command failed/).waitFor({ state: 'detached' });
});

test('a new tab starts where the current one is, and elsewhere if that is gone', async ({ app, page }) => {
  await app.run('mkdir -p here && cd here');
  await expect.poll(() => app.activeTab.getAttribute('title')).toMatch(/\/here$/m);
  await app.newButton.click();
  await expect.poll(() => app.tabs.count()).toBe(2);
  await app.sees('e2e:~/here$');
  await expect.poll(() => app.activeTab.getAttribute('title')).toMatch(/\/here$/m);
  await app.run('rmdir ~/here; echo gone');
  await app.sees(/^gone$/m);
  await page.keyboard.press('Control+Shift+Enter');
  await expect.poll(() => app.tabs.count()).toBe(3);
  await app.sees(prompt);
});

/** Connects a device that shares its terminal under the name "work". */
async function share(program: (name: string) => Promise<Program>): Promise<{ laptop: Program; channel: string }> {
  const laptop = await program('laptop');
  const channel = 'ahp-terminal:/at-the-laptop';
  await laptop.request('createTerminal', {
    channel, name: 'work', executionTarget: 'client', claim: { kind: 'client', clientId: 'laptop' }, cols: 80, rows: 24,
  });
  return { laptop, channel };
}

test('a terminal that ended at its device says so, and offers no other shell in its place', async ({ app, page, program }) => {
  const { laptop, channel } = await share(program);
  await app.tab(/^work \(local to laptop/).click();
  await laptop.dispatch(channel, { type: 'terminal/output', data: '$ \x1b]133;C\x07last words\r\n\x1b]133;D;4\x07' });
  await mark(app, /^A command: exit code 4/).waitFor(); // a shell over there may mark its commands too
  await laptop.dispatch(channel, { type: 'terminal/exited', exitCode: 3 });
  await page.getByText('The shell at laptop exited with code 3.').waitFor();
  expect(await page.getByRole('button', { name: 'Restart' }).count()).toBe(0);
  await app.banner.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Close tab' }).click();
  await expect.poll(() => app.tabs.count()).toBe(1);
});

test('a terminal that runs at a device is shown, takes no keys, and can be put away', async ({ app, page, program }) => {
  const { laptop, channel } = await share(program);
  await app.tab(/^work \(local to laptop/).click();
  await laptop.dispatch(channel, { type: 'terminal/output', data: 'far away$ ' });
  await app.sees('far away$');
  await app.banner.getByText('Local to laptop').waitFor();
  await picture(page, 'commands remote');
  await app.type('x');
  await app.banner.getByText('Not sent: the shell runs at laptop').waitFor();
  await app.choose(/^Close/);
  const sure = app.dialog('Close terminal?');
  await sure.getByText('The shell at laptop goes on there.').waitFor();
  await sure.getByRole('button', { name: 'Close terminal' }).click();
  await expect.poll(() => app.tabs.count()).toBe(1);
  expect(await app.screen()).not.toContain('x');
});

describe.each([
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'light', options: { colorScheme: 'light' } },
] as const)('on a phone, $name', ({ name, options }) => {
  test('marks, menu and list have room', async ({ tandem, visitor }) => {
    const { app, page } = await visitor({ ...options, viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
    await app.open(await tandem.link());
    await app.run('false');
    await app.run('sleep 0.2; echo a rather long command line that does not fit into the width of a phone');
    await mark(app, /^sleep 0.2.*: exit code 0/).waitFor();
    await picture(page, `commands phone ${name}`);
    await page.keyboard.press('Control+Shift+ArrowRight');
    await page.getByRole('menu').waitFor();
    await picture(page, `commands phone ${name} menu`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Shift+F');
    await commands(app).waitFor();
    await picture(page, `commands phone ${name} list`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });
});
