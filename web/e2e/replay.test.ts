import { writeFile } from 'node:fs/promises';
import { describe } from 'vitest';
import type { App } from './harness/app';
import { expect, test } from './harness/fixtures';
import { prompt } from './harness/server';

/** Reloads the page and waits until the screen is at rest again. */
async function reload(app: App): Promise<string> {
  await app.page.reload();
  await expect.poll(() => app.screen()).not.toBe('');
  return app.settled();
}

describe('after a reload', () => {
  test('the scrollback and the screen are as before', async ({ app }) => {
    await app.run('seq 1 300');
    await app.sees(/\n300\n/);
    const before = await app.settled();
    expect(await reload(app)).toBe(before);
    expect(await found(app, 'seq 1 300')).toBe(true);
    await app.sees(/^1\n2\n3$/m);
  });

  test('the keyboard is in the terminal at once', async ({ app }) => {
    await reload(app);
    await app.type('echo typed $((20+3))\n');
    await app.sees('typed 23');
  });

  test('vim looks the same and goes on', async ({ app, tandem }) => {
    const lines = Array.from({ length: 200 }, (_, at) => `line ${at + 1} – “quoted” • naïve 漢字`);
    await writeFile(`${tandem.home}/text.txt`, `${lines.join('\n')}\n`);
    await app.run('vim -u NONE -N --cmd "set nomore" text.txt');
    await app.sees('line 1 –');
    await app.type('50Gzt');
    await app.sees(/^line 50 /m);
    const before = await app.settled();
    expect(await reload(app)).toBe(before);
    await app.type('oadded after the reload');
    await app.page.keyboard.press('Escape');
    await app.sees('added after the reload');
    await app.type(':q!\n');
    await app.sees(/e2e:~\$ vim .*\n(.*\n)*e2e:~\$$/);
  });

  test('vim looks the same when its start has left the log', async ({ app, tandem }) => {
    await writeFile(`${tandem.home}/long.txt`, `${'x'.repeat(60)}\n`.repeat(1_000));
    await app.run('echo "ear"ly; vim -u NONE -N --cmd "set nomore" long.txt');
    await app.sees('xxxx');
    // Each round paints the whole screen, more than 1 KiB; the log keeps 4 MiB.
    await app.type(':for i in range(6000) | redraw! | endfor | exe "normal! 7G" | redraw! | echo "repainted"\n');
    await app.sees(/^repainted$/m, 60_000);
    const before = await app.settled();
    await reload(app);
    await app.type(':echo "at " . line(".")\n');
    await app.sees(/^at 7$/m);
    expect((await app.screen()).replace(/.*$/, '')).toBe(before.replace(/.*$/, ''));
    await app.type(':q!\n');
    await app.sees(prompt);
    expect(await app.screen()).not.toContain('early'); // else the log still held vim's start, and this test nothing new
  });

  test('htop is painted whole', async ({ app }) => {
    await app.run('htop -d 100');
    await app.sees('F10Quit');
    await reload(app);
    await app.sees('Load average');
    const screen = await app.screen();
    expect(screen).toContain('F1Help');
    expect(screen).toContain('F10Quit');
    expect(screen).toMatch(/PID\S*\s+USER/);
    expect(screen).not.toContain(prompt);
    await app.type('q');
    await app.sees(/e2e:~\$ htop -d 100\n.*e2e:~\$$/s);
  });

  test('queries of a program that is gone put nothing at the prompt', async ({ app }) => {
    // Device attributes, cursor position, colours, a mode, a setting, the version: answered while the program runs.
    const queries = String.raw`\e[c\e[>c\e[6n\e]10;?\e\\\e]11;?\a\e[?2004$p\eP$qm\e\\\e[>q\e[5n`;
    await app.run(`stty -echo raw; printf '${queries}'; sleep 1; read -rt 1 -n 4000 -d x; stty sane echo; clear; echo asked`);
    await app.sees(/asked\n.*\$$/);
    const before = await app.settled();
    for (let round = 0; round < 3; round++) expect(await reload(app)).toBe(before);
    await app.type('echo clean');
    await app.sees(/e2e:~\$ echo clean$/);
  });
});

test('what was cleared away is gone for every view, also after a reload', async ({ app, page, tandem, visitor }) => {
  await app.run('echo sec"ret"; seq 1 200');
  await app.sees(/\n200\n/);
  const other = await visitor();
  await other.app.open(await tandem.link());
  await other.app.sees(/\n200\n/);
  expect(await found(other.app, 'secret')).toBe(true);
  await app.focus();
  await page.keyboard.press('Control+Shift+l');
  for (const view of [app, other.app]) {
    await expect.poll(() => found(view, 'secret')).toBe(false);
    await view.page.reload();
    await view.sees(prompt);
    expect(await found(view, 'secret')).toBe(false);
  }
});

test('every kind of dash and quote arrives, however the bytes are cut', async ({ app }) => {
  // U+2000 to U+203F all hold the byte 0x80, which xterm.js 6 loses when a frame ends within the character.
  const pieces = ['–', '—', '‘', '’', '“', '”', '•', '…', '漢', '👩‍🔬'];
  const bytes = pieces.map((piece) => [...Buffer.from(piece)].map((byte) => `\\x${byte.toString(16)}`));
  // The sleeps are the test's subject: they make each byte a frame of its own.
  const split = bytes.flat().map((byte) => `printf '${byte}'; sleep 0.02`).join('; ');
  await app.run(`clear; (${split}); echo '|end'`);
  await app.sees('|end');
  const line = (await app.settled()).split('\n').find((each) => each.endsWith('|end'));
  expect(line).toBe(`${pieces.join('')}|end`);
});

/** Scrolls up page by page until the screen holds the text, and says whether it did. */
async function found(app: App, text: string): Promise<boolean> {
  await app.focus();
  let last = '';
  for (let screen = await app.settled(); screen !== last; screen = await app.settled()) {
    if (screen.includes(text)) return true;
    last = screen;
    await app.page.keyboard.press('Shift+PageUp');
  }
  return false;
}
