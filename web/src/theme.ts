import type { ITheme } from '@xterm/xterm';
import { settings } from './settings.ts';

const dark: ITheme = {
  background: '#14161b',
  foreground: '#d7dae0',
  cursor: '#7cb7ff',
  cursorAccent: '#14161b',
  selectionBackground: '#2f4a6d',
  selectionInactiveBackground: '#2a3340',
  black: '#454c5b',
  red: '#f0717a',
  green: '#8ccf7e',
  yellow: '#e5c76b',
  blue: '#6cb0f5',
  magenta: '#c792ea',
  cyan: '#5fc9c6',
  white: '#c9ced8',
  brightBlack: '#6b7485',
  brightRed: '#ff8f96',
  brightGreen: '#a9e59c',
  brightYellow: '#f4dc8f',
  brightBlue: '#93c8ff',
  brightMagenta: '#dcb2f7',
  brightCyan: '#86e1de',
  brightWhite: '#f4f6fa',
  scrollbarSliderBackground: '#ffffff1f',
  scrollbarSliderHoverBackground: '#ffffff38',
  scrollbarSliderActiveBackground: '#ffffff4d',
};

const light: ITheme = {
  background: '#fdfdfc',
  foreground: '#2a2e37',
  cursor: '#1f6fd6',
  cursorAccent: '#fdfdfc',
  selectionBackground: '#c3dcfb',
  selectionInactiveBackground: '#e1e6ed',
  black: '#2a2e37',
  red: '#c0303f',
  green: '#2f7d32',
  yellow: '#8f6400',
  blue: '#1f62c4',
  magenta: '#8a3fb0',
  cyan: '#0f7480',
  white: '#70757f',
  brightBlack: '#5d6470',
  brightRed: '#d6404f',
  brightGreen: '#3b8f3e',
  brightYellow: '#a67500',
  brightBlue: '#2f76dd',
  brightMagenta: '#a154c7',
  brightCyan: '#178894',
  brightWhite: '#1b1e24',
  scrollbarSliderBackground: '#00000021',
  scrollbarSliderHoverBackground: '#0000003b',
  scrollbarSliderActiveBackground: '#00000052',
};

const system = matchMedia('(prefers-color-scheme: dark)');

/** Returns the colours for terminals, by the person's choice or else the system's. */
export function terminalTheme(): ITheme {
  return isDark() ? dark : light;
}

/** Shows the chosen theme, and calls `changed` now and whenever it becomes another one. */
export function followTheme(changed: () => void): void {
  const apply = () => {
    document.documentElement.dataset['theme'] = isDark() ? 'dark' : 'light';
    changed();
  };
  system.addEventListener('change', apply);
  settings.onChange(apply);
  apply();
}

function isDark(): boolean {
  const choice = settings.get().theme;
  return choice === 'system' ? system.matches : choice === 'dark';
}
