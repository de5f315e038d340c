import { describe, expect, test } from 'vitest';
import { parseFrame } from './frames.ts';

describe('parseFrame', () => {
  test.each([
    [{ type: 'ready', offset: 7, cols: 80, rows: 24, writable: false }],
    [{ type: 'writable', writable: true }],
    [{ type: 'cleared', offset: 3 }],
    [{ type: 'reset', offset: 3, replay: true }],
    [{ type: 'live', offset: Number.MAX_SAFE_INTEGER }],
    [{ type: 'resize', cols: 1, rows: 65_535 }],
    [{ type: 'title', title: 'vim' }],
    [{ type: 'exit', code: 143, signal: 'SIGTERM' }],
    [{ type: 'exit', code: 0 }],
    [{ type: 'error', title: 'input is full', code: 'input_full' }],
    [{ type: 'pong' }],
  ])('reads %j', (frame) => {
    expect(parseFrame(JSON.stringify(frame))).toEqual(frame);
  });

  test('takes a viewer for writable and a reset for one without a replay unless it says otherwise', () => {
    expect(parseFrame('{"type":"ready","offset":0,"cols":80,"rows":24}')).toMatchObject({ writable: true });
    expect(parseFrame('{"type":"reset","offset":0}')).toMatchObject({ replay: false });
  });

  test('reads when a command started, and how it ended', () => {
    expect(parseFrame('{"type":"command","id":"c1","line":"make","cwd":"/srv","started":"1970-01-01T00:00:02.5Z","offset":3}')).toEqual({
      type: 'command', id: 'c1', line: 'make', cwd: '/srv', started: 2_500,
    });
    expect(parseFrame('{"type":"command","id":"c1","exit_code":2,"duration_ms":15,"offset":9}')).toEqual({ type: 'command', id: 'c1', exitCode: 2, duration: 15 });
    expect(parseFrame('{"type":"command","id":"c1","exit_code":null,"duration_ms":0,"offset":9}')).toMatchObject({ exitCode: undefined });
  });

  test.each([
    ['no JSON', 'ready'],
    ['no object', '[]'],
    ['null', 'null'],
    ['an unknown type', '{"type":"hello"}'],
    ['a negative offset', '{"type":"live","offset":-1}'],
    ['an offset beyond what a number holds', '{"type":"live","offset":9007199254740993}'],
    ['no columns', '{"type":"resize","cols":0,"rows":24}'],
    ['half a row', '{"type":"resize","cols":80,"rows":1.5}'],
    ['a title that is a number', '{"type":"title","title":1}'],
    ['a command without a name', '{"type":"command","line":"x","started":"2026-01-02T03:04:05Z"}'],
    ['a command that started at no time', '{"type":"command","id":"c1","line":"x","started":"soon"}'],
    ['a command line that is a number', '{"type":"command","id":"c1","line":1,"started":"2026-01-02T03:04:05Z","duration_ms":1}'],
    ['a command that took less than no time', '{"type":"command","id":"c1","exit_code":0,"duration_ms":-1}'],
    ['half an exit code', '{"type":"command","id":"c1","exit_code":0.5,"duration_ms":1}'],
    ['no exit code', '{"type":"exit","signal":"SIGTERM"}'],
  ])('ignores a frame with %s', (_what, text) => {
    expect(parseFrame(text)).toBeUndefined();
  });
});
