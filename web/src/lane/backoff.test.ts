import { expect, test } from 'vitest';
import { Backoff } from './backoff.ts';

test('waits double from 0.25 s to 10 s and start over after a reset', () => {
  const backoff = new Backoff(() => 0);
  const waits = Array.from({ length: 8 }, () => backoff.next());
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
  backoff.reset();
  expect(backoff.next()).toBe(250);
});

test('chance takes away half of a wait at most', () => {
  expect(new Backoff(() => 0.999).next()).toBeGreaterThan(125);
});
