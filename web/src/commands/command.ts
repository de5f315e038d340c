/** A command that a shell ran, as far as it is known. Never changed: the next state is another object. */
export interface Command {
  /** Unique in its terminal. */
  readonly id: string;
  /** The command line, which may have several lines; '' if unknown. */
  readonly line: string;
  /** The directory it was started in, or '' if unknown. */
  readonly cwd: string;
  /** When it started, in milliseconds since 1970, by the server's clock. */
  readonly started: number;
  /** How it ended; undefined while it runs. */
  readonly end: CommandEnd | undefined;
}

/** How a command ended. */
export interface CommandEnd {
  /** The exit status, or undefined if nobody knows it. */
  readonly exitCode: number | undefined;
  /** In milliseconds. */
  readonly duration: number;
}

/** What a command has come to. */
export type Outcome = 'running' | 'ok' | 'failed' | 'unknown';

export function outcomeOf({ end }: Command): Outcome {
  if (!end) return 'running';
  if (end.exitCode === undefined) return 'unknown';
  return end.exitCode === 0 ? 'ok' : 'failed';
}

/** Says how a command ended or that it runs, as in "exit code 2, 3.1 s". */
export function outcomeWords({ end }: Command): string {
  if (!end) return 'running';
  const code = end.exitCode === undefined ? 'exit code unknown' : `exit code ${end.exitCode}`;
  return `${code}, ${durationWords(end.duration)}`;
}

/** Says how long something took: "0.2 s", "3 min 5 s", "2 h 10 min". */
export function durationWords(milliseconds: number): string {
  if (milliseconds < 9_950) return `${(Math.max(0, milliseconds) / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The most characters of a command line where it stands for the command. */
const NAME_LENGTH = 80;

/** Returns a command line as one short line. */
export function nameOfCommand({ line }: Pick<Command, 'line'>): string {
  const name = line.replaceAll(/\s+/g, ' ').trim();
  if (name === '') return 'A command';
  const characters = [...name];
  return characters.length > NAME_LENGTH ? `${characters.slice(0, NAME_LENGTH - 1).join('')}…` : name;
}
