import { describe } from 'vitest';
import { expect, test as base, type Visitor } from './harness/fixtures';
import { Program } from './harness/program';
import { type Network, startNetwork } from './harness/proxy';
import { prompt, startTandem, type Tandem, until } from './harness/server';

// What Chromium reports by itself when a request or a socket finds no server.
const lost = /net::ERR_|WebSocket connection to .* failed/;

let target = 0; // port of the server behind the network

/** A visitor whose traffic passes a network that the test can cut. */
const test = base.extend<{ network: Network; far: Tandem; person: Visitor }>({
  far: async ({ network }, use) => {
    const far = await startTandem({ TANDEM_TRUSTED_ORIGIN: `http://127.0.0.1:${network.port}` });
    target = far.port;
    await use(far);
    await far.dispose();
  },
  network: async ({}, use) => {
    const network = await startNetwork(() => target);
    await use(network);
    await network.close();
  },
  person: async ({ far, network, visitor }, use) => {
    const person = await visitor();
    person.complaints.expect(lost);
    const link = new URL(await far.link());
    await person.app.open(`http://127.0.0.1:${network.port}/${link.hash}`);
    await use(person);
  },
});

const banner = (person: Visitor) => person.page.getByRole('status').filter({ visible: true, hasText: /reconnect/i }).first();

describe('a cut network', () => {
  test('is announced, refuses keys visibly, and loses no output', async ({ app, person, network, far, page }) => {
    await app.run('for i in $(seq 1 200); do echo "count $i"; sleep 0.01; done; echo count is "over"');
    await app.sees('count 20');
    network.cut();
    await banner(person).waitFor();
    await app.type('echo typed-while-cut\n');
    await page.getByText(/not sent/i).first().waitFor();
    network.mend();
    await app.sees('count is over');
    await banner(person).waitFor({ state: 'hidden' });
    const screen = await app.settled();
    const counts = [...screen.matchAll(/^count (\d+)$/gm)].map((match) => Number(match[1]));
    expect(counts).toEqual(counts.map((_, at) => 200 - counts.length + 1 + at));
    expect(screen).not.toContain('typed-while-cut');
    await app.type('echo on $((2+2))\n');
    await app.sees(/^on 4$/m);
    expect(far.output()).not.toContain('panic');
  });

  test('in the middle of a flood leaves the same text as an unbroken one', async ({ app, network }) => {
    await app.run('for i in $(seq 1 60000); do echo "row $i of the flood –•–"; done; echo flood is "over"');
    await app.sees(/row \d+ of the flood/);
    for (let round = 0; round < 5; round++) {
      const before = await app.screen();
      network.cut();
      await new Promise((resolve) => setTimeout(resolve, 100)); // the length of the outage
      network.mend();
      await until(async () => (await app.screen()) !== before || before.includes('over'), 'output to go on');
    }
    await app.sees('flood is over', 60_000);
    const rows = [...(await app.settled()).matchAll(/^row (\d+) of the flood –•–$/gm)].map((match) => Number(match[1]));
    expect(rows.length).toBeGreaterThan(10);
    expect(rows).toEqual(rows.map((_, at) => 60_000 - rows.length + 1 + at));
  });

  test('that only stalls sends what was typed once, and shows what was printed', async ({ app, network }) => {
    await app.run('for i in $(seq 1 100); do echo "tick $i"; sleep 0.01; done');
    await app.sees('tick 5');
    network.freeze();
    await app.type('echo typed once\n');
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // the length of the stall
    network.mend();
    await app.sees(/^typed once$/m);
    expect((await app.settled()).match(/^typed once$/gm)).toHaveLength(1);
    await app.sees(/tick 99\ntick 100\n/);
  });

  test('ends at once when the browser says that it is online again', async ({ app, person, network }) => {
    network.cut();
    await banner(person).waitFor();
    await new Promise((resolve) => setTimeout(resolve, 4_000)); // the waits between attempts grow to seconds
    network.mend();
    const online = Date.now();
    await person.page.evaluate(() => window.dispatchEvent(new Event('online')));
    await banner(person).waitFor({ state: 'hidden' });
    expect(Date.now() - online).toBeLessThan(1_000);
    await app.type('echo back\n');
    await app.sees(/^back$/m);
  });
});

test('what programs did during an outage shows after it', async ({ app, far, network, page, person }) => {
  person.complaints.expect(/status of 404/); // the tab of the terminal that is gone may ask before the list has come
  const claude = await Program.connect(far, 'claude');
  const [tab] = claude.terminals;
  const own = await claude.create('build');
  await app.tab(/^build \(used by claude/).waitFor();
  const pause = page.getByRole('switch', { name: 'Pause programs' });
  network.cut();
  await expect.poll(() => pause.isEnabled()).toBe(false);
  await page.keyboard.press('Control+Shift+S');
  await page.getByText('Who is here is not known while the connection is away.').waitFor();
  await page.keyboard.press('Escape');
  await claude.request('disposeTerminal', { channel: own });
  await claude.create('deploy');
  await claude.claim(tab!);
  network.mend();
  await app.tab(/^deploy \(used by claude/).waitFor();
  await app.card('claude').waitFor();
  await expect.poll(() => app.tabs.count()).toBe(2);
  await expect.poll(() => pause.isEnabled()).toBe(true);
  claude.close();
});

test('a click on the way is not needed: the keyboard works after an outage', async ({ app, person, network, page }) => {
  network.cut();
  await banner(person).waitFor();
  network.mend();
  await banner(person).waitFor({ state: 'hidden' });
  await page.keyboard.type('echo no click\n');
  await app.sees(/^no click$/m);
});

describe('a restart of the server', () => {
  test('keeps the login, says that the shell ended, and starts another in the same folder', async ({ app, page, person, far }) => {
    await app.run('mkdir -p project/here && cd project/here');
    await app.sees('e2e:~/project/here$');
    await expect.poll(() => app.activeTab.getAttribute('title')).toContain('/project/here'); // the page knows the folder
    person.complaints.expect(/status of 404/); // the terminal is gone, and only asking tells
    await far.restart();
    await page.getByText(/ended with the server/i).first().waitFor();
    expect(await app.screen()).toContain('e2e:~/project/here$'); // what was there can still be read
    await page.getByRole('button', { name: /^New shell/ }).first().click();
    await app.sees(/^e2e:~\/project\/here\$$/m);
    await app.type('echo new $((3*3))\n');
    await app.sees(/^new 9$/m);
    await expect.poll(() => app.tabs.count()).toBe(1);
    expect(await person.page.getByLabel('Password', { exact: true }).count()).toBe(0);
    expect(await app.screen()).toContain(prompt.slice(0, 4));
  });
});
