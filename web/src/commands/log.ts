import type { CommandFrame } from '../lane/frames.ts';
import type { Command } from './command.ts';

/** How many commands are kept: as many as the server keeps. */
const MOST = 1_000;

/** What a log tells. */
export interface CommandLogEvents {
  /** A command started, ended or is not known any more. */
  changed(): void;
  /** A command ended while the page was there, or while its connection was away; not one that a replay only repeats. */
  ended(command: Command): void;
}

/** The commands of one terminal. It outlives replays, which tell of the same commands again. */
export class CommandLog {
  private readonly commands = new Map<string, Command>(); // oldest first
  /** Commands that started in a replay, in which their ends are no news either. */
  private readonly repeated = new Set<string>();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly events: CommandLogEvents) {}

  /** Calls back after each change, until the returned function is called. */
  listen(changed: () => void): () => void {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  }

  /** All commands that are kept, oldest first. */
  get all(): Command[] {
    return [...this.commands.values()];
  }

  get(id: string): Command | undefined {
    return this.commands.get(id);
  }

  /** The command that runs now. */
  get running(): Command | undefined {
    const last = this.all.at(-1);
    return last && !last.end ? last : undefined;
  }

  /** Takes a frame of the lane; `replayed` says that it is part of a replay. */
  take(frame: CommandFrame, replayed: boolean): void {
    const known = this.commands.get(frame.id);
    if ('line' in frame) {
      if (known) return;
      if (replayed) this.repeated.add(frame.id);
      this.commands.set(frame.id, { id: frame.id, line: frame.line, cwd: frame.cwd, started: frame.started, end: undefined });
      if (this.commands.size > MOST) this.drop(this.commands.keys().next().value!);
      this.tell();
      return;
    }
    if (!known || known.end) return;
    const ended: Command = { ...known, end: { exitCode: frame.exitCode, duration: frame.duration } };
    this.commands.set(frame.id, ended);
    this.tell();
    if (!(replayed && this.repeated.has(frame.id))) this.events.ended(ended);
  }

  /** Forgets the commands that have ended and are not to be kept. */
  keep(kept: (id: string) => boolean): void {
    for (const { id, end } of this.all) {
      if (end && !kept(id)) this.drop(id);
    }
    this.tell();
  }

  private tell(): void {
    this.events.changed();
    for (const listener of this.listeners) listener();
  }

  private drop(id: string): void {
    this.commands.delete(id);
    this.repeated.delete(id);
  }
}
