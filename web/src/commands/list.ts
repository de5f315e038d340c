import { openDialog } from '../dialog.ts';
import { h } from '../dom.ts';
import { durationWords, nameOfCommand, outcomeOf, outcomeWords, type Command } from './command.ts';
import type { CommandLog } from './log.ts';

/** Shows the commands of a terminal, newest first. `choose` is called with the one that the person wants to see. */
export function openCommandList(log: CommandLog, title: string, choose: (id: string) => void): void {
  const list = h('div', { class: 'command-list', id: 'command-list', role: 'listbox', 'aria-label': 'Commands' });
  const filter = h('input', {
    type: 'text', role: 'combobox', class: 'command-filter', placeholder: 'Filter', autocomplete: 'off', spellcheck: 'false',
    'aria-label': 'Filter', 'aria-controls': list.id, 'aria-expanded': 'true', 'aria-autocomplete': 'list',
  });
  const none = h('p', { class: 'quiet', role: 'status' });
  let shown: readonly Command[] = [];
  let at = 0;
  let chosen: string | undefined;

  const pick = (id: string) => {
    chosen = id;
    dialog.close();
  };
  const point = (index: number) => {
    at = Math.max(0, Math.min(index, shown.length - 1));
    [...list.children].forEach((row, place) => row.setAttribute('aria-selected', String(place === at)));
    const row = list.children[at];
    row?.scrollIntoView({ block: 'nearest' });
    if (row) filter.setAttribute('aria-activedescendant', row.id);
    else filter.removeAttribute('aria-activedescendant');
  };
  const draw = () => {
    const pointed = shown[at]?.id;
    shown = matching(log.all, filter.value);
    list.replaceChildren(...shown.map((command) => row(command, pick)));
    none.textContent = shown.length > 0 ? '' : log.all.length > 0 ? 'No command has that in it.' : 'No commands yet. They show here once the shell tells of them.';
    none.hidden = shown.length > 0;
    point(Math.max(0, shown.findIndex(({ id }) => id === pointed)));
  };

  filter.addEventListener('input', () => {
    draw();
    point(0);
  });
  filter.addEventListener('keydown', (event) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 8, PageUp: at - 8 }[event.key];
    if (to !== undefined) point(to);
    else if (event.key === 'Enter' && !event.isComposing) {
      const command = shown[at];
      if (command) pick(command.id);
    } else {
      return;
    }
    event.preventDefault();
  });
  const dialog = openDialog(`Commands in ${title}`, filter, none, list);
  dialog.classList.add('command-dialog');
  const stop = log.listen(draw);
  dialog.addEventListener('close', () => {
    stop();
    if (chosen !== undefined) choose(chosen);
  });
  draw();
  filter.focus();
}

/** Returns the commands that have all words of the filter in their line, newest first. */
export function matching(commands: readonly Command[], filter: string): Command[] {
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== '');
  return commands.filter(({ line }) => words.every((word) => line.toLowerCase().includes(word))).reverse();
}

function row(command: Command, pick: (id: string) => void): HTMLElement {
  const { id, end, started } = command;
  const outcome = outcomeOf(command);
  const code = end?.exitCode;
  const said = [
    outcome === 'running' ? 'running' : outcome === 'unknown' ? 'exit ?' : `exit ${code}`,
    end ? durationWords(end.duration) : '',
    timeWords(started),
  ];
  const element = h(
    'div',
    { class: 'command-row', id: `command-${id}`, role: 'option', title: `${command.line}\n${outcomeWords(command)}` },
    h('span', { class: `command-mark still ${outcome}`, 'aria-hidden': 'true' }),
    h('code', { class: 'command-line' }, nameOfCommand(command)),
    h('span', { class: 'command-facts' }, ...said.filter((part) => part !== '').map((part) => h('span', {}, part))),
  );
  element.addEventListener('click', () => pick(id));
  return element;
}

/** Says when something was: the time today, else the date with it. */
function timeWords(time: number): string {
  const date = new Date(time);
  const today = date.toDateString() === new Date().toDateString();
  return date.toLocaleString('en-GB', { hour: '2-digit', minute: '2-digit', ...(!today && { day: 'numeric', month: 'short' }) });
}
