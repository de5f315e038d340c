import { execFile } from 'node:child_process';
import { appendFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { root } from './harness/build';
import { expect, test } from './harness/fixtures';

// `vitest run --config web/e2e/vitest.config.ts --mode screenshot` makes docs/screenshot.png anew: a real session in a
// clone of this repository.
test('docs/screenshot.png', async ({ tandem, visitor }) => {
  await promisify(execFile)('git', ['clone', '--quiet', root, `${tandem.home}/tandem`]);
  await appendFile(`${tandem.home}/.bash_profile`, "PS1='\\[\\e[1;34m\\]\\w\\[\\e[0m\\] \\[\\e[32m\\]$(git branch --show-current 2>/dev/null)\\[\\e[0m\\]$ '\ncd ~/tandem\nclear\n");
  await writeFile(
    `${tandem.home}/.gitconfig`,
    '[color]\n\tui = always\n[core]\n\tpager = cat\n[log]\n\tdate = short\n[format]\n\tpretty = "%C(yellow)%h %C(cyan)%ad %C(reset)%s"\n',
  );
  const { app, page } = await visitor({ viewport: { width: 1080, height: 660 }, deviceScaleFactor: 1.5, colorScheme: 'dark' });
  await page.goto(await tandem.link());
  await app.sees('~/tandem');
  await app.run('vim -u NONE -N --cmd "syntax on" main.go');
  await app.sees('package main');
  await app.newButton.click();
  await app.sees(/^~\/tandem \S+\$$/m);
  await app.run('htop');
  await app.sees('F10Quit');
  await app.newButton.click();
  await app.sees(/^~\/tandem \S+\$$/m);
  for (const command of ['git log -6', 'ls --color -x', 'git log -1 -p --format= -- ptymgr/title.go | head -18']) {
    await app.run(command);
    await app.settled();
  }
  await mkdir(`${root}docs`, { recursive: true });
  await page.screenshot({ path: `${root}docs/screenshot.png` });
  expect((await stat(`${root}docs/screenshot.png`)).size).toBeLessThan(300_000);
});
