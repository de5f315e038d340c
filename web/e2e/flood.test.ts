import { readFile, writeFile } from 'node:fs/promises';
import { describe } from 'vitest';
import { expect, test } from './harness/fixtures';
import { prompt, until } from './harness/server';

describe('a flood', () => {
  test('Ctrl-C ends `yes` and the prompt is there at once', async ({ app, page }) => {
    await app.run('yes a long line of output that fills the terminal');
    await app.sees(/(a long line of output that fills the terminal\n){20}/);
    const pressed = Date.now();
    await page.keyboard.press('Control+c');
    await app.sees(/\^C\n*.*e2e:~\$$/);
    expect(Date.now() - pressed).toBeLessThan(1_500); // the whole way through Chromium; the server's own bar is 60 ms
    await app.type('echo alive $((40+2))\n');
    await app.sees('alive 42');
  });

  test('the page answers while 40 MB pass, and the end is right', async ({ app, page }) => {
    await app.run('for i in 1 2 3 4; do head -c 10000000 /dev/zero | tr "\\0" "x" | fold -w 99; done; echo; echo flood is "over"');
    const lags: number[] = [];
    while (!(await app.screen()).includes('flood is over')) {
      const asked = Date.now();
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
      lags.push(Date.now() - asked);
    }
    lags.sort((a, b) => a - b);
    expect(lags.at(Math.floor(lags.length / 2))).toBeLessThan(250);
    await app.sees(prompt);
  });

  test('a tab in the background neither stops its shell nor loses its end', async ({ app, tandem }) => {
    await app.run('seq 1 2000000; echo done > finished; echo hidden flood is "over"');
    await app.newTab();
    await until(() => readFile(`${tandem.home}/finished`).then(() => true, () => false), 'the hidden shell to finish');
    await app.tabs.first().click();
    await app.sees(/1999999\n2000000\nhidden flood is over/);
  });
});

describe('a paste', () => {
  test('of 1 MiB arrives whole', async ({ app, tandem }) => {
    const lines = Array.from({ length: 16_384 }, (_, at) => `${String(at).padStart(8, '0')} ${'–•é漢z'.repeat(4)}`.padEnd(40, '.'));
    const text = `${lines.join('\n')}\n`;
    expect(Buffer.byteLength(text)).toBeGreaterThan(1 << 20);
    await app.run('stty -echo; cat > pasted; stty echo; echo paste is "over"');
    await app.sees('stty');
    await app.settled();
    await app.paste(text);
    await until(async () => (await size(`${tandem.home}/pasted`)) >= Buffer.byteLength(text), 'the paste to be read', 60_000);
    await app.page.keyboard.press('Control+d');
    await app.sees('paste is over');
    expect(await readFile(`${tandem.home}/pasted`, 'utf8')).toBe(text);
  });

  test('is bracketed for a program that asked for it', async ({ app }) => {
    await app.run("printf '\\e[?2004h'; stty -icanon; dd bs=1 count=16 status=none | cat -v; stty sane; printf '\\e[?2004l\\n'");
    await app.settled();
    await app.paste('four');
    await app.sees('^[[200~four^[[201~');
  });

  test('larger than the server takes at once gets through, and a keystroke stops the rest', async ({ app, tandem }) => {
    await app.run('stty raw -echo; sleep 3; stty sane; echo slept; cat > /dev/null');
    await app.settled();
    await app.paste('0123456789abcde\n'.repeat(1_250_000)); // 20 MB, more than the 8 MiB queue
    await app.sees('slept', 20_000);
    await app.page.keyboard.press('Control+c');
    await app.sees(/e2e:~\$$/, 30_000);
    await writeFile(`${tandem.home}/mark`, 'still here');
    await app.type('cat mark\n');
    await app.sees('still here');
  });
});

async function size(path: string): Promise<number> {
  return readFile(path).then((bytes) => bytes.length, () => 0);
}
