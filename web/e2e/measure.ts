import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { afterAll } from 'vitest';
import { expect, test } from './harness/fixtures';
import { quantile, stopwatch } from './harness/stopwatch';

// `npm run measure`: what a person waits for, from the key or click to the painted frame, through the real binary and
// Chromium. Without a GPU xterm.js paints by its DOM renderer, which is the slower one.

const results: string[] = [];

function report(what: string, figures: string, bar: string): void {
  results.push(`| ${what} | ${figures} | ${bar} |`);
}

afterAll(() => {
  process.stdout.write(`\n| what | measured | bar |\n|---|---|---|\n${results.join('\n')}\n\n`);
  process.stdout.write(`Load of the machine in the last minute: ${loadavg()[0]?.toFixed(1)}.\n\n`);
});

test('20 MB of colored text through xterm.js', { timeout: 300_000 }, async ({ app, page, tandem }) => {
  await writeFile(`${tandem.home}/colored`, coloredText(20_000_000));
  const watch = await stopwatch(page);
  const rates: number[] = [];
  for (let round = 1; round <= 5; round++) {
    await app.run('clear');
    await app.settled();
    await page.keyboard.insertText(`cat colored; echo round "${round}" over`);
    await app.settled();
    await watch.arm(new RegExp(`^round ${round} over$`));
    await page.keyboard.press('Enter');
    rates.push(20_000 / (await watch.read()));
  }
  const median = quantile(rates, 0.5);
  report('20 MB of colored text through xterm.js', `${median.toFixed(1)} MB/s (${rates.map((rate) => rate.toFixed(1)).join(', ')})`, '>= 10 MB/s');
  expect(median).toBeGreaterThanOrEqual(10);
});

test('keystroke to changed pixels', { timeout: 120_000 }, async ({ app, page }) => {
  const watch = await stopwatch(page);
  await app.settled();
  const samples: number[] = [];
  for (let line = 0; line < 8; line++) {
    let typed = '';
    for (const key of 'the quick brown fox') {
      typed += key;
      await watch.arm(new RegExp(`\\$ ${typed.trimEnd()}$`));
      await page.keyboard.press(key);
      const elapsed = await watch.read();
      if (key !== ' ') samples.push(elapsed); // a blank does not change the text at the end of a row
    }
    await page.keyboard.press('Control+u');
    await app.sees(/\$$/);
  }
  const p95 = quantile(samples, 0.95);
  report(`keystroke to changed pixels, ${samples.length} keys`, `p50 ${quantile(samples, 0.5).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`, 'p95 < 50 ms');
  expect(p95).toBeLessThan(50);
});

test('new tab to painted prompt', { timeout: 120_000 }, async ({ app, page }) => {
  await app.run("PS1='first> '; clear"); // so that the awaited prompt is only a new tab's
  await app.sees(/^first>$/);
  const watch = await stopwatch(page);
  const samples: number[] = [];
  for (let round = 0; round < 40; round++) {
    await watch.arm(/^e2e:~\$$/);
    await app.newButton.click();
    samples.push(await watch.read());
    await page.keyboard.insertText('exit');
    await page.keyboard.press('Enter');
    await expect.poll(() => app.tabs.count()).toBe(1);
  }
  const p95 = quantile(samples, 0.95);
  report(`new tab to painted prompt, ${samples.length} tabs`, `p50 ${quantile(samples, 0.5).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`, 'p95 < 200 ms');
  expect(p95).toBeLessThan(200);
});

/** The text of `make bench`, so that what the server and the page reach can be compared. */
function coloredText(bytes: number): string {
  let text = '';
  for (let i = 0; text.length < bytes; i++) {
    text += `\x1b[38;5;${i % 256}mword ${i}\x1b[0m plain text – \x1b[1;32mgreen ${i}\x1b[m and the rest of the line\n`;
  }
  return text;
}
