/** What a person has chosen in this browser. */
export interface Settings {
  theme: 'system' | 'dark' | 'light';
  renderer: 'auto' | 'dom';
  /** In CSS pixels, 8 to 32. */
  fontSize: number;
  /** Whether Ctrl+V pastes, or is a key for the program. */
  ctrlV: 'paste' | 'program';
  /** Whether xterm.js keeps a copy of the screen for a screen reader. */
  screenReader: boolean;
  /** Whether the system tells when a long command ends that nobody looks at. */
  notify: boolean;
}

const KEY = 'tandem.settings';

const listeners: (() => void)[] = [];
let current = load();

/** The settings of this browser, kept across visits where it lets us. */
export const settings = {
  get(): Readonly<Settings> {
    return current;
  },

  set(changed: Partial<Settings>): void {
    current = { ...current, ...changed };
    try {
      localStorage.setItem(KEY, JSON.stringify(current));
    } catch {
      // Storage may be switched off; the choice then lasts as long as the page.
    }
    for (const listener of listeners) listener();
  },

  /** Calls `listener` after each change. */
  onChange(listener: () => void): void {
    listeners.push(listener);
  },
};

/** Reads the stored settings; what is missing or not of ours has its default. */
function load(): Settings {
  let stored: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    if (typeof value === 'object' && value !== null) stored = value as Record<string, unknown>;
  } catch {
    // Switched off, or changed by hand.
  }
  const { theme, renderer, fontSize, ctrlV, screenReader, notify } = stored;
  return {
    theme: theme === 'dark' || theme === 'light' ? theme : 'system',
    renderer: renderer === 'dom' ? 'dom' : 'auto',
    fontSize: typeof fontSize === 'number' && fontSize >= 8 && fontSize <= 32 ? fontSize : 14,
    ctrlV: ctrlV === 'program' ? 'program' : 'paste',
    screenReader: screenReader === true,
    notify: notify === true,
  };
}
