import { describe, expect, test } from 'vitest';
import { nextItem, placeMenu } from './menu.ts';

describe('nextItem', () => {
  const entries = ['Rename…', 'Private', 'Watch', 'Ask', 'Share', 'Close'];

  test.each([
    ['ArrowDown', 0, 1],
    ['ArrowDown', 5, 0],
    ['ArrowDown', -1, 0],
    ['ArrowUp', 0, 5],
    ['ArrowUp', 3, 2],
    ['ArrowUp', -1, 5],
    ['Home', 4, 0],
    ['End', 1, 5],
    ['s', 0, 4],
    ['P', 5, 1],
    ['c', 5, 5],
  ])('%s at %d goes to %d', (key, at, to) => expect(nextItem(key, at, entries)).toBe(to));

  test.each(['x', ' ', 'Enter', 'Shift', 'F2'])('%s stays', (key) => expect(nextItem(key, 2, entries)).toBeUndefined());
});

describe('placeMenu', () => {
  const menu = { width: 300, height: 400 };
  const window = { width: 1000, height: 600 };

  test('is below the anchor', () => {
    expect(placeMenu({ left: 100, bottom: 40 }, menu, window)).toEqual({ left: 100, top: 42 });
  });

  test('stays inside at the right and the bottom', () => {
    expect(placeMenu({ left: 990, bottom: 590 }, menu, window)).toEqual({ left: 692, top: 192 });
  });

  test('keeps its upper left corner when it is too big', () => {
    expect(placeMenu({ left: -40, bottom: 500 }, { width: 500, height: 900 }, { width: 390, height: 600 })).toEqual({ left: 8, top: 8 });
  });
});
