import { describe } from 'vitest';
import { expect, test } from './harness/fixtures';
import { until } from './harness/server';

describe('tabs', () => {
  test('a second tab has a shell of its own', async ({ app }) => {
    await app.run('mark=first');
    await app.newTab();
    await app.run('echo "second:$mark:"');
    await app.sees('second::');
    await app.tabs.first().click();
    await app.run('echo "mark:$mark:"');
    await app.sees('mark:first:');
  });

  test('order and choice outlive a reload, and the list is the server\'s', async ({ app, page, tandem, visitor }) => {
    await app.run('printf "\\e]2;one\\a"; sleep 1000');
    await app.newTab();
    await app.run('printf "\\e]2;two\\a"; sleep 1000');
    await app.newTab();
    await app.run('printf "\\e]2;three\\a"; sleep 1000');
    const titles = () => app.tabs.evaluateAll((all) => all.map((tab) => /one|two|three/.exec(tab.textContent ?? '')?.[0]));
    await expect.poll(titles).toEqual(['one', 'two', 'three']);
    await app.tabs.nth(1).click();
    await page.reload();
    await expect.poll(titles).toEqual(['one', 'two', 'three']);
    await expect.poll(() => app.activeTab.textContent()).toContain('two');
    const phone = await visitor();
    await phone.page.goto(await tandem.link());
    await expect.poll(() => phone.app.tabs.count()).toBe(3);
  });

  test('the title follows the program, and a given name sticks', async ({ app, page }) => {
    await app.run("printf '\\e]2;my program\\a'; sleep 1000");
    await page.getByRole('tab', { name: 'my program' }).waitFor();
    await app.activeTab.dblclick();
    const dialog = app.dialog('Rename terminal');
    await dialog.getByRole('textbox').fill('build');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('tab', { name: 'build' }).waitFor();
    await app.focus();
    await page.keyboard.press('Control+c');
    await app.run("printf '\\e]2;other\\a'; echo titled");
    await app.sees(/^titled$/m);
    await page.reload();
    await page.getByRole('tab', { name: 'build' }).waitFor();
  });

  test('arrow keys walk the tabs', async ({ app, page }) => {
    await app.newTab();
    await app.activeTab.focus();
    await page.keyboard.press('ArrowLeft');
    const first = app.tabs.first();
    await expect.poll(() => first.evaluate((tab) => tab === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await expect.poll(() => first.getAttribute('aria-selected')).toBe('true');
    expect(await app.tabs.evaluateAll((all) => all.map((tab) => (tab as HTMLElement).tabIndex))).toEqual([0, -1]);
  });

  test('the 11th terminal is refused with the limit named', async ({ app, page }) => {
    for (let count = 1; count < 10; count++) await app.newTab();
    await app.newButton.click();
    await page.getByText(/\b10\b.*terminals|terminals.*\b10\b/i).first().waitFor();
    expect(await app.tabs.count()).toBe(10);
  });
});

describe('the end of a shell', () => {
  test('`exit` closes the tab, and the last one leaves a way on', async ({ app, page }) => {
    await app.newTab();
    await app.run('exit');
    await expect.poll(() => app.tabs.count()).toBe(1);
    await app.focus();
    await app.run('exit');
    await expect.poll(() => app.tabs.count()).toBe(0);
    await page.getByRole('button', { name: /New (shell|terminal)/ }).last().click();
    await app.sees('e2e:~$');
  });

  test('`exit 3` keeps the tab, names the code, and restarts in the same folder', async ({ app, page }) => {
    await app.run('mkdir deep && cd deep');
    await expect.poll(() => app.activeTab.getAttribute('title')).toContain('/deep'); // the page knows the folder
    await app.run('exit 3');
    await page.getByText(/\b3\b/).first().waitFor();
    expect(await app.tabs.count()).toBe(1);
    await app.sees('exit 3');
    await page.getByRole('button', { name: 'Restart' }).click();
    await app.sees(/^e2e:~\/deep\$$/m);
    await app.type('echo again\n');
    await app.sees(/^again$/m);
  });

  test('a killed shell names the signal', async ({ app, page }) => {
    await app.run('kill -KILL $$');
    await page.getByText(/SIGKILL/).first().waitFor();
    expect(await app.tabs.count()).toBe(1);
  });

  test('closing asks only while something runs, and ends it', async ({ app, page, tandem }) => {
    await app.newTab();
    await app.run('sleep 4321 & echo $! > job; sleep 1234');
    await until(async () => (await app.activeTab.textContent())?.includes('sleep') ?? false, 'the title to name the program');
    await page.getByRole('button', { name: /^Close/ }).last().click();
    const dialog = app.dialog('Close terminal?');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await app.tabs.count()).toBe(2);
    await page.getByRole('button', { name: /^Close/ }).last().click();
    await dialog.getByRole('button', { name: /^Close/ }).click();
    await expect.poll(() => app.tabs.count()).toBe(1);
    await app.focus();
    await app.run('while kill -0 $(cat job) 2>/dev/null; do :; done; echo ended'); // the job ran in the background
    await app.sees(/^ended$/m);
    await page.getByRole('button', { name: /^Close/ }).last().click(); // idle: no question
    await expect.poll(() => app.tabs.count()).toBe(0);
    expect(tandem.output()).not.toContain('panic');
  });
});
