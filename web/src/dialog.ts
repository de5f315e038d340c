import { button, h } from './dom.ts';

/** Shows a modal dialog with a close button. It leaves the document when it is closed. */
export function openDialog(title: string, ...content: Node[]): HTMLDialogElement {
  const dialog = makeDialog(title, ...content);
  dialog.append(h('div', { class: 'dialog-actions' }, button('Close', () => dialog.close(), 'primary')));
  dialog.showModal();
  return dialog;
}

/** Asks a question, and resolves to whether the answer was `yes` rather than cancelled. */
export function ask(title: string, text: string, yes: string): Promise<boolean> {
  const dialog = makeDialog(title, h('p', {}, text));
  return new Promise((resolve) => {
    const confirm = button(yes, () => dialog.close('yes'), 'danger');
    dialog.append(h('div', { class: 'dialog-actions' }, button('Cancel', () => dialog.close()), confirm));
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'));
    dialog.showModal();
    confirm.focus();
  });
}

let count = 0;

function makeDialog(title: string, ...content: Node[]): HTMLDialogElement {
  const id = `dialog-${++count}`;
  const dialog = h('dialog', { class: 'dialog', 'aria-labelledby': id }, h('h2', { id }, title), ...content);
  dialog.addEventListener('close', () => dialog.remove());
  // A click beside the dialog is a click on its backdrop, which counts as the dialog itself.
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  return dialog;
}
