/** What the server calls a terminal in which only the shell runs. */
const SHELLS: readonly string[] = ['Shell', 'bash', 'zsh', 'fish', 'sh', 'dash', 'ksh'];

/** Adds a command to a title that only says which program runs. A title that says anything else is somebody's choice. */
export function labelOf(title: string, command: string): string {
  if (SHELLS.includes(title)) return `${title} · ${command}`;
  const program = command.split(' ', 1)[0]!;
  return program.slice(program.lastIndexOf('/') + 1) === title ? command : title;
}
