import { askPermission, canNotify } from './commands/notifier.ts';
import { openDialog } from './dialog.ts';
import { h } from './dom.ts';
import { notify as say } from './notices.ts';
import { settings, type Settings } from './settings.ts';
import { isMac } from './shortcuts.ts';

/** Shows the settings of this browser. A change takes effect at once. */
export function openSettings(): void {
  const { theme, renderer, fontSize, ctrlV, screenReader, notify } = settings.get();
  const size = h('input', { id: 'set-font', type: 'number', min: 8, max: 32, step: 1, value: fontSize });
  size.addEventListener('change', () => {
    if (size.checkValidity() && size.value !== '') settings.set({ fontSize: Number(size.value) });
  });
  const reader = h('input', { id: 'set-reader', type: 'checkbox', checked: screenReader });
  reader.addEventListener('change', () => settings.set({ screenReader: reader.checked }));
  const ends = h('input', { id: 'set-notify', type: 'checkbox', checked: notify && canNotify() && Notification.permission === 'granted' });
  ends.addEventListener('change', () => void setNotify(ends));
  const fields = [
    field('Theme', choice('theme', theme, [['system', 'As the system'], ['dark', 'Dark'], ['light', 'Light']])),
    field('Text size', size),
    field('Renderer', choice('renderer', renderer, [['auto', 'Automatic (WebGL)'], ['dom', 'DOM']])),
    field('Screen reader support', reader),
    field('Notify when a long command ends', ends),
  ];
  if (!isMac) {
    fields.push(field('Ctrl+V', choice('ctrlV', ctrlV, [['paste', 'Pastes'], ['program', 'Goes to the program']])));
  }
  openDialog('Settings', h('div', { class: 'fields' }, ...fields));
}

/** Takes over the wish to be notified, once the browser lets us. */
async function setNotify(box: HTMLInputElement): Promise<void> {
  if (box.checked && !(await askPermission())) {
    box.checked = false;
    say(canNotify() ? 'The browser does not let Tandem notify. Its settings for this page can change that.' : 'This browser notifies on https and localhost only.');
  }
  settings.set({ notify: box.checked });
}

function field(label: string, control: HTMLElement): HTMLElement {
  return h('div', { class: 'field' }, h('label', { for: control.id }, label), control);
}

function choice<K extends 'theme' | 'renderer' | 'ctrlV'>(
  key: K,
  value: Settings[K],
  options: (readonly [Settings[K], string])[],
): HTMLSelectElement {
  const select = h(
    'select',
    { id: `set-${key}` },
    ...options.map(([option, label]) => h('option', { value: option, selected: option === value }, label)),
  );
  select.addEventListener('change', () => settings.set({ [key]: select.value as Settings[K] }));
  return select;
}
