import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// The browser suite runs the real binary with the interface in static/dist, so `npm run build` comes first.
// One file at a time: the tests judge latency and the machine may have two cores.
// `--mode measure` runs the measurements instead, `--mode screenshot` makes the README's picture.
export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: mode === 'measure' || mode === 'screenshot' ? [`${mode}.ts`] : ['*.test.ts'],
    globalSetup: ['harness/build.ts'],
    fileParallelism: false,
    execArgv: ['--experimental-websocket'], // below Node 22
    testTimeout: 90_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000, interval: 25 } },
    reporters: ['verbose'],
  },
}));
