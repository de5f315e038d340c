import type { Page } from 'playwright-core';

/** Measures in the page, from an input event's own time to the frame that shows its effect. */
export interface Stopwatch {
  /** Arms the watch: it starts at the next key or click, and stops when the shown terminal's text matches. */
  arm(wanted: RegExp): Promise<void>;
  /** Milliseconds from the event to the painted match; waits for it. */
  read(): Promise<number>;
}

interface Watch {
  arm(source: string): void;
  elapsed: Promise<number>;
}

/** Puts a stopwatch into the page. Reloading the page removes it. */
export async function stopwatch(page: Page): Promise<Stopwatch> {
  await page.evaluate(() => {
    let wanted: RegExp | undefined;
    let started = 0;
    let stop: (elapsed: number) => void = () => {};
    const watch: Watch = {
      arm(source) {
        wanted = new RegExp(source, 'm');
        started = 0;
        watch.elapsed = new Promise((resolve) => (stop = resolve));
      },
      elapsed: Promise.resolve(0),
    };
    (window as unknown as { e2eWatch: Watch }).e2eWatch = watch;

    const start = (event: Event): void => {
      if (wanted && !started) started = event.timeStamp;
    };
    addEventListener('keydown', start, true);
    addEventListener('pointerdown', start, true);

    // The text changes in an animation frame; a message posted there is delivered after that frame was painted.
    const painted = new MessageChannel();
    painted.port1.onmessage = () => stop(performance.now() - started);
    const look = (): void => {
      if (!wanted || !started) return;
      // Asks for nothing that makes the browser lay the page out: that would be measured too.
      const rows = [...document.querySelectorAll('[role=tabpanel]:not([hidden]) .xterm-rows > div')];
      const text = rows.map((row) => row.textContent?.replaceAll('\u00a0', ' ').trimEnd()).join('\n');
      if (!wanted.test(text.trimEnd())) return;
      wanted = undefined;
      painted.port2.postMessage(null);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return {
    async arm(wanted) {
      await page.evaluate((source) => (window as unknown as { e2eWatch: Watch }).e2eWatch.arm(source), wanted.source);
    },
    read: () => page.evaluate(() => (window as unknown as { e2eWatch: Watch }).e2eWatch.elapsed),
  };
}

/** The value that a share `at` (0 to 1) of the samples does not exceed. */
export function quantile(samples: readonly number[], at: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.ceil(at * sorted.length) - 1)];
  if (value === undefined) throw new Error('no samples');
  return value;
}
