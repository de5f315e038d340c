import { expect, test, visit } from './harness/fixtures';

test('a lost WebGL context leaves the terminal working, drawn by the DOM', async ({ browser, tandem, complaints }) => {
  const visitor = await visit(browser, {}, 'auto');
  complaints.push(visitor.complaints);
  // Chromium draws WebGL in software here, which the page would turn down: let it take that for a GPU.
  await visitor.context.addInitScript(() => {
    const getParameter = WebGL2RenderingContext.prototype.getParameter;
    WebGL2RenderingContext.prototype.getParameter = function (name: number) {
      const value: unknown = getParameter.call(this, name);
      return typeof value === 'string' ? value.replace(/swiftshader/gi, 'GPU') : value;
    };
    const getContext = HTMLCanvasElement.prototype.getContext as (kind: string, options?: object) => RenderingContext | null;
    HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, options?: object) {
      return getContext.call(this, kind, { ...options, failIfMajorPerformanceCaveat: false });
    } as typeof HTMLCanvasElement.prototype.getContext;
  });
  const { page } = visitor;
  await page.goto(await tandem.link());
  const canvases = page.locator('.xterm-screen canvas');
  await expect.poll(() => canvases.count()).toBeGreaterThan(0); // drawn by WebGL
  await page.keyboard.type('echo before-$((1+1))\n');
  await page.evaluate(() => {
    for (const canvas of document.querySelectorAll<HTMLCanvasElement>('.xterm-screen canvas')) {
      canvas.getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext();
    }
  });
  const rows = page.locator('.xterm-rows');
  await expect.poll(() => rows.textContent(), { timeout: 15_000 }).toContain('before-2');
  await page.keyboard.type('echo after-$((1+1))\n');
  await expect.poll(() => rows.textContent(), { timeout: 15_000 }).toContain('after-2');
  await visitor.context.close();
});
