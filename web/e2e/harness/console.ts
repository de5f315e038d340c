import type { Page } from 'playwright-core';

/** What a page complained about: console errors, uncaught exceptions, and breaches of the content security policy. */
export interface Complaints {
  /** Says that complaints which match may come from now on, because the test provokes them. */
  expect(pattern: RegExp): void;
  /** Every complaint that no test expected. */
  unexpected(): string[];
}

// Chromium reports an answer of 401 as an error, and a page can learn only by such an answer that nobody is logged in.
const always = /status of 401.*\/api\/session$/;

/** Watches a page from before its first load. */
export async function watch(page: Page): Promise<Complaints> {
  const seen: string[] = [];
  const expected: RegExp[] = [always];
  const add = (text: string): void => {
    if (!expected.some((pattern) => pattern.test(text))) seen.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content Security Policy/i.test(message.text())) {
      add(`console: ${message.text()} ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => add(`exception: ${error.stack ?? error.message}`));
  await page.exposeFunction('e2eComplain', add);
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const { e2eComplain } = window as unknown as { e2eComplain(text: string): void };
      e2eComplain(`policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  return {
    expect: (pattern) => void expected.push(pattern),
    unexpected: () => seen,
  };
}
