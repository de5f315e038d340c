/** What a shortcut does. */
export type Action =
  | 'new' | 'close' | 'next' | 'previous' | 'tabs' | 'clear' | 'help'
  | 'menu' | 'takeBack' | 'requests' | 'pause'
  | 'commands' | 'command' | 'nextCommand' | 'previousCommand'
  | { goto: number };

/** Whether Cmd takes the part of Ctrl in the system's own shortcuts. */
export const isMac = /Mac|iP(hone|ad|od)/.test(navigator.platform);

/**
 * The shortcuts, as the help shows them. Chosen so that no browser keeps them for itself and no common program in a
 * terminal wants them: terminals cannot tell Ctrl+Shift+letter from Ctrl+letter, so programs do without it. Letters are
 * matched by their place, so they are ones that QWERTY, QWERTZ and AZERTY have in the same place.
 */
export const shortcutHelp: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl+Shift+Enter', 'New terminal'],
  ['Ctrl+Shift+X', 'Close tab'],
  ['Alt+Page Down', 'Next tab'],
  ['Alt+Page Up', 'Previous tab'],
  ['Ctrl+Shift+1 … 9', 'Go to a tab'],
  ['Ctrl+Shift+Home', 'Move to the tab list'],
  ['F2, double click', 'Rename the tab (in the tab list)'],
  ['Ctrl+Shift+↑, ↓', 'Previous, next command'],
  ['Ctrl+Shift+→', 'Menu of the command: copy, run again'],
  ['Ctrl+Shift+F', 'List of commands'],
  ['Ctrl+Shift+S', 'Menu of the tab: sharing, rename, close'],
  ['Ctrl+Shift+Backspace', 'Take the terminal back from a program'],
  ['Ctrl+Shift+End', 'Move to what programs ask'],
  ['Ctrl+Shift+H', 'Pause programs, or let them go on'],
  ['Ctrl+Shift+C', 'Copy what is selected'],
  ['Ctrl+Shift+V', 'Paste'],
  ['Ctrl+Shift+L', 'Clear what has scrolled away'],
  ['Ctrl+Shift+?', 'This help'],
];

/** Returns what a key press asks for, or undefined for a key that is the program's. */
export function matchShortcut(event: KeyboardEvent): Action | undefined {
  if (event.metaKey) return undefined;
  if (event.altKey && !event.ctrlKey && !event.shiftKey) {
    if (event.code === 'PageDown') return 'next';
    if (event.code === 'PageUp') return 'previous';
    return undefined;
  }
  if (!event.ctrlKey || !event.shiftKey || event.altKey) return undefined;
  switch (event.code) {
    case 'Enter':
      return 'new';
    case 'KeyX':
      return 'close';
    case 'Home':
      return 'tabs';
    case 'KeyL':
      return 'clear';
    case 'KeyS':
      return 'menu';
    case 'Backspace':
      return 'takeBack';
    case 'End':
      return 'requests';
    case 'KeyH':
      return 'pause';
    case 'KeyF':
      return 'commands';
    case 'ArrowRight':
      return 'command';
    case 'ArrowUp':
      return 'previousCommand';
    case 'ArrowDown':
      return 'nextCommand';
    case 'Slash':
      return 'help';
  }
  if (event.key === '?') return 'help';
  const digit = /^Digit([1-9])$/.exec(event.code);
  return digit ? { goto: Number(digit[1]) - 1 } : undefined;
}
