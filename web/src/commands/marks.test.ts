import type { IDecoration, IDecorationOptions } from '@xterm/xterm';
import headless from '@xterm/headless';
import { beforeEach, describe, expect, test } from 'vitest';
import { CommandLog } from './log.ts';
import { CommandMarks, type MarkedTerminal } from './marks.ts';

describe('CommandMarks', () => {
  let terminal: InstanceType<typeof headless.Terminal>;
  let log: CommandLog;
  let marks: CommandMarks;
  let resets: (() => void)[]; // what xterm.js does to decorations when a program resets the terminal

  const write = (text: string) => new Promise<void>((resolve) => terminal.write(text.replaceAll('\n', '\r\n'), resolve));
  const start = (id: string, line: string) => {
    log.take({ type: 'command', id, line, cwd: '/', started: 0 }, false);
    marks.start(id);
  };
  const finish = (id: string) => {
    log.take({ type: 'command', id, exitCode: 0, duration: 1 }, false);
    marks.finish(id);
  };
  /** What a shell does with a command. */
  const run = async (id: string, line: string, output: string, shown = line) => {
    await write(`$ ${shown}\n`);
    start(id, line);
    await write(output);
    finish(id);
  };
  /** The text of the rows that the marked commands begin at. */
  const marked = () => {
    const rows: string[] = [];
    for (const { id } of log.all) {
      if (marks.jump(id)) rows.push(terminal.buffer.active.getLine(lastLine())!.translateToString(true));
    }
    return rows;
  };
  let lastLine: () => number;

  beforeEach(() => {
    terminal = new headless.Terminal({ cols: 20, rows: 6, scrollback: 20, allowProposedApi: true });
    resets = [];
    lastLine = () => -1;
    const registerDecoration = ({ marker, width }: IDecorationOptions) => {
      if (width !== undefined) lastLine = () => marker.line; // the light of a jump
      const gone: (() => void)[] = [];
      const dispose = () => gone.splice(0).forEach((each) => each());
      if (width === undefined) {
        marker.onDispose(dispose);
        resets.push(dispose);
      }
      const decoration = { marker, dispose, onDispose: (each: () => void) => gone.push(each), onRender: () => undefined, element: undefined };
      return decoration as unknown as IDecoration;
    };
    log = new CommandLog({ changed: () => undefined, ended: () => undefined });
    const marked: MarkedTerminal = {
      buffer: terminal.buffer,
      registerMarker: (offset) => terminal.registerMarker(offset)!,
      registerDecoration,
      rows: 6,
      cols: 20,
      scrollToLine: (line) => terminal.scrollToLine(line),
    };
    marks = new CommandMarks(marked, log, () => undefined);
  });

  test('are at the command lines, and give the output between', async () => {
    await run('c1', 'seq 2', '1\n2\n');
    await run('c2', 'printf x', 'x');
    await write('\n');
    await run('c3', 'true', '');
    expect(marked()).toEqual(['$ seq 2', '$ printf x', '$ true']);
    expect(marks.output('c1')).toBe('1\n2');
    expect(marks.output('c2')).toBe('x');
    expect(marks.output('c3')).toBe('');
    expect(marks.output('c4')).toBeUndefined();
  });

  test('join rows that were wrapped, in the command line and in the output', async () => {
    const line = `echo ${'a'.repeat(30)}`;
    await run('c1', line, `${'b'.repeat(45)}\nend\n`);
    expect(marked()).toEqual([`$ echo ${'a'.repeat(13)}`]);
    expect(marks.output('c1')).toBe(`${'b'.repeat(45)}\nend`);
    terminal.resize(11, 6);
    expect(marks.output('c1')).toBe(`${'b'.repeat(45)}\nend`);
  });

  test('are at the first line of a command that has several', async () => {
    await run('c1', 'for i in 1\ndo echo $i\ndone', '1\n', 'for i in 1\n> do echo $i\n> done');
    expect(marked()).toEqual(['$ for i in 1']);
    expect(marks.output('c1')).toBe('1');
  });

  test('are at the command line also when something was typed ahead', async () => {
    await run('c1', 'make', '', 'make\nls; ls');
    await run('c2', 'ls; ls', 'a\n');
    expect(marked()).toEqual(['$ make', '$ ls; ls']);
    expect(marks.output('c1')).toBe('');
    expect(marks.output('c2')).toBe('a');
  });

  test('do not take what was printed before for a command line', async () => {
    await run('c1', 'echo', 'make it\n');
    await run('c2', 'make it', 'x\n', '!m');
    expect(marked()).toEqual(['$ echo', 'x']);
  });

  test('are at the output where the command line was painted over', async () => {
    await run('c1', 'make', 'made\n', 'something else');
    expect(marked()).toEqual(['made']);
    expect(marks.output('c1')).toBe('made');
  });

  test('give what a running command has printed so far', async () => {
    await write('$ make\n');
    start('c1', 'make');
    await write('cc a.c\ncc b');
    expect(marks.output('c1')).toBe('cc a.c\ncc b');
  });

  test('are not set on the alternate screen, and stay below it', async () => {
    await run('c1', 'true', '');
    await write('$ vim\n');
    start('c2', 'vim');
    await write('\x1b[?1049h\x1b[Hinside');
    start('c3', 'inside');
    expect(marks.has('c3')).toBe(false);
    expect(marks.jump('c1')).toBe(false);
    await write('\x1b[?1049l');
    finish('c2');
    expect(marked()).toEqual(['$ true', '$ vim']);
    expect(marks.output('c2')).toBe('');
  });

  test('go with their lines: scrolled out, erased, reset', async () => {
    await run('c1', 'seq', '1\n2\n3\n');
    await run('c2', 'other', `${'line\n'.repeat(22)}`);
    expect(marks.has('c1')).toBe(false);
    expect(marks.has('c2')).toBe(true);
    await run('c3', 'clear', '\x1b[H\x1b[2J');
    expect(marks.has('c3')).toBe(false);
    await run('c4', 'true', '');
    expect(marks.has('c4')).toBe(true);
    for (const reset of resets) reset();
    expect(marks.has('c4')).toBe(false);
    await run('c5', 'true', '');
    marks.reset();
    terminal.reset();
    expect(log.all.some(({ id }) => marks.has(id))).toBe(false);
    await run('c5', 'true', ''); // as a replay tells it again
    expect(marked()).toEqual(['$ true']);
  });

  test('are walked from the last one back, to the first and again forward', async () => {
    for (const id of ['c1', 'c2', 'c3']) await run(id, id, `${id}\n`.repeat(3));
    expect([-1, -1, -1, -1, 1, 1, 1].map((steps) => marks.step(steps))).toEqual(['c3', 'c2', 'c1', 'c1', 'c2', 'c3', 'c3']);
    marks.deselect();
    expect(marks.selected).toBeUndefined();
    expect(marks.step(-1)).toBe('c3');
  });

  test('stay when the command before goes, though they may be at its end', async () => {
    await run('c1', 'seq', '1\n2\n');
    await run('c2', 'other', 'x\n');
    await write('line\n'.repeat(22));
    expect([marks.has('c1'), marks.has('c2')]).toEqual([false, true]);
    expect(marked()).toEqual(['$ other']);
    expect(marks.output('c2')).toBe('x');
  });

  test('are as many as cost little', async () => {
    for (let n = 0; n < 270; n++) start(`c${n}`, '');
    expect(log.all.filter(({ id }) => marks.has(id))).toHaveLength(250);
    expect(marks.has('c269')).toBe(true);
  });
});
