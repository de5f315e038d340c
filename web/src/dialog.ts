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

/** Asks for a line of text, and resolves to it without blanks around it, or to undefined when cancelled. */
export function askText(title: string, label: string, value: string, hint: string): Promise<string | undefined> {
  const field = h('input', { id: 'dialog-text', type: 'text', maxlength: 200, autocomplete: 'off' });
  field.value = value;
  const save = button('Save', () => undefined, 'primary');
  save.type = 'submit';
  const cancel = button('Cancel', () => dialog.close());
  const form = h(
    'form',
    { class: 'text-form' },
    h('label', { for: field.id }, label),
    field,
    h('p', { class: 'quiet' }, hint),
    h('div', { class: 'dialog-actions' }, cancel, save),
  );
  const dialog = makeDialog(title, form);
  return new Promise((resolve) => {
    let text: string | undefined;
    form.addEventListener('submit', (event) => {
      event.preventDefault(); // form-action is refused by the content security policy
      text = field.value.trim();
      dialog.close();
    });
    dialog.addEventListener('close', () => resolve(text));
    dialog.showModal();
    field.select();
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
