import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, test as base } from 'vitest';
import { App } from './app';
import { type Complaints, watch } from './console';
import { Program } from './program';
import { startTandem, type Tandem } from './server';

/** A browser of its own: cookies, storage, one page. */
export interface Visitor {
  readonly app: App;
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: Complaints;
}

interface Fixtures {
  $file: { browser: Browser };
  $test: {
    /** Every page's complaints, judged after all else was put away: a failure here would leave the rest running. */
    complaints: Complaints[];
    /** A server with empty folders. */
    tandem: Tandem;
    /** Makes another visitor, who is not logged in. */
    visitor(options?: BrowserContextOptions): Promise<Visitor>;
    /** Connects a program with a token of this name. */
    program(name: string): Promise<Program>;
    /** A visitor who came by a login link and has a prompt before them. */
    person: Visitor;
    app: App;
    page: Page;
  };
}

/** Launches Chromium without the services that look for hosts on the internet. */
export function launch(...flags: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync', ...flags,
    ],
  });
}

/** How the terminals are painted: by the DOM, whose text a test can read, or as the interface chooses. */
export type Renderer = 'dom' | 'auto';

/** Makes a visitor in `browser` who chose a renderer in the settings. */
export async function visit(browser: Browser, options: BrowserContextOptions = {}, renderer: Renderer = 'dom'): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 640 }, colorScheme: 'dark', ...options });
  await context.addInitScript((chosen) => {
    if (location.protocol === 'about:') return; // has no storage
    if (!localStorage.getItem('tandem.settings')) localStorage.setItem('tandem.settings', JSON.stringify({ renderer: chosen }));
  }, renderer);
  const page = await context.newPage();
  const complaints = await watch(page);
  return { app: new App(page), page, context, complaints };
}

/** Tests with a browser for each file, and for each test a server and visitors whose pages must not complain. */
export const test = base.extend<Fixtures>({
  browser: [
    async ({}, use) => {
      const browser = await launch();
      await use(browser);
      await browser.close();
    },
    { scope: 'file' },
  ],
  complaints: [
    async ({}, use) => {
      const complaints: Complaints[] = [];
      await use(complaints);
      expect(complaints.flatMap((each) => each.unexpected()), 'what the pages complained about').toEqual([]);
    },
    { auto: true },
  ],
  tandem: async ({}, use) => {
    const tandem = await startTandem();
    await use(tandem);
    await tandem.dispose();
  },
  visitor: async ({ browser, complaints, task }, use) => {
    const visitors: Visitor[] = [];
    await use(async (options) => {
      const visitor = await visit(browser, options);
      visitors.push(visitor);
      complaints.push(visitor.complaints);
      return visitor;
    });
    const failed = task.result?.state === 'fail';
    for (const [index, visitor] of visitors.entries()) {
      if (failed) await picture(visitor.page, `failed ${task.name} ${index}`);
      await visitor.context.close();
    }
  },
  program: async ({ tandem }, use) => {
    const programs: Program[] = [];
    await use(async (name) => {
      const program = await Program.connect(tandem, name);
      programs.push(program);
      return program;
    });
    for (const program of programs) program.close();
  },
  person: async ({ tandem, visitor }, use) => {
    const person = await visitor();
    await person.app.open(await tandem.link());
    await use(person);
  },
  app: async ({ person }, use) => use(person.app),
  page: async ({ person }, use) => use(person.page),
});

/** Keeps a picture of the page in artifacts/. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = fileURLToPath(new URL('../artifacts/', import.meta.url));
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}${name.replaceAll(/[^\w]+/g, '-')}.png`, animations: 'disabled' });
}

export { expect };
