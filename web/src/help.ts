import { openDialog } from './dialog.ts';
import { h } from './dom.ts';
import { shortcutHelp } from './shortcuts.ts';

/** Shows the shortcuts and the version of the server. */
export function openHelp(version: string): void {
  const rows = shortcutHelp.map(([keys, does]) =>
    h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, keys)), h('td', {}, does)),
  );
  openDialog(
    'Keyboard',
    h('table', { class: 'keys' }, h('tbody', {}, ...rows)),
    h('p', { class: 'quiet' }, 'Shells keep running when this page is closed.'),
    h('p', { class: 'quiet' }, `Tandem ${version}`),
  );
}
