import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ACK_BYTES, ACK_DELAY, Acks } from './acks.ts';

describe('Acks', () => {
  let sent: number[];
  let acks: Acks;

  beforeEach(() => {
    vi.useFakeTimers();
    sent = [];
    acks = new Acks((offset) => sent.push(offset));
  });
  afterEach(() => vi.useRealTimers());

  test('acknowledges the offset of ready at once', () => {
    acks.start(1000);
    expect(sent).toEqual([1000]);
  });

  test('acknowledges a prompt that waits, once and soon', () => {
    acks.start(0);
    acks.advance(10);
    acks.advance(20);
    expect(sent).toEqual([0]);
    vi.advanceTimersByTime(ACK_DELAY);
    expect(sent).toEqual([0, 20]);
    vi.advanceTimersByTime(10 * ACK_DELAY);
    expect(sent).toEqual([0, 20]);
  });

  test('sends no more than one ack for ACK_BYTES of a flood of small frames', () => {
    acks.start(0);
    for (let offset = 100; offset <= 10 * ACK_BYTES; offset += 100) acks.advance(offset);
    expect(sent.length).toBeLessThanOrEqual(11);
    expect(sent.length).toBeGreaterThanOrEqual(10);
    expect(sent).toEqual([...sent].sort((a, b) => a - b));
  });

  test('never goes back', () => {
    acks.start(500);
    acks.advance(400);
    vi.advanceTimersByTime(ACK_DELAY);
    expect(sent).toEqual([500]);
  });

  test('is silent after stop', () => {
    acks.start(0);
    acks.advance(10);
    acks.stop();
    vi.advanceTimersByTime(ACK_DELAY);
    expect(sent).toEqual([0]);
  });
});
