import { copyText } from '../clipboard.ts';
import { notify } from '../notices.ts';
import { announce } from '../sharing/announce.ts';
import { Menu, type MenuEntry, type MenuPlace } from '../sharing/menu.ts';
import type { Tab } from '../tab.ts';
import { nameOfCommand, outcomeWords, type Command } from './command.ts';
import { openCommandList } from './list.ts';

/** What a person does with the commands of a tab. */
export class CommandControls {
  private readonly menu = new Menu();

  /** Goes to the command before or after the selected one. */
  step(tab: Tab, steps: number): void {
    const id = tab.pane.marks.step(steps);
    const command = id === undefined ? undefined : tab.commands.get(id);
    if (command) announce(`${nameOfCommand(command)}: ${outcomeWords(command)}`);
    else notify('No command is marked here.');
  }

  /** Opens the menu of the selected command, or of the last one. */
  openMenu(tab: Tab): void {
    const id = tab.pane.marks.selected ?? tab.commands.all.at(-1)?.id;
    if (id === undefined) {
      notify('No command is marked here.');
      return;
    }
    tab.pane.marks.jump(id);
    const mark = tab.pane.marks.element(id);
    const { left, top } = tab.pane.element.getBoundingClientRect();
    this.openMenuOf(tab, id, mark ?? { x: left + 16, y: top + 16 });
  }

  /** Opens the menu of one command. */
  openMenuOf(tab: Tab, id: string, place: MenuPlace): void {
    const command = tab.commands.get(id);
    if (!command) return;
    tab.pane.marks.select(id);
    this.menu.open(place, nameOfCommand(command), [nameOfCommand(command), outcomeWords(command)], this.entries(tab, command));
  }

  /** Shows the list of a tab's commands. */
  openList(tab: Tab): void {
    openCommandList(tab.commands, tab.title, (id) => {
      if (!tab.pane.marks.jump(id)) notify('That command is not on the screen any more.');
      tab.focus();
    });
  }

  private entries(tab: Tab, { id, line, end }: Command): MenuEntry[] {
    const entries: MenuEntry[] = [];
    if (tab.pane.marks.has(id)) entries.push({ label: end ? 'Copy output' : 'Copy output so far', choose: () => void this.copy(tab.pane.marks.output(id) ?? '') });
    if (line !== '') entries.push({ label: 'Copy command', choose: () => void this.copy(line) });
    if (line !== '' && tab.mayRun) entries.push({ label: 'Run again', choose: () => tab.run(line) });
    entries.push('line', { label: 'All commands…', keys: 'Ctrl+Shift+F', choose: () => this.openList(tab) });
    return entries;
  }

  private async copy(text: string): Promise<void> {
    if (text === '') notify('It printed nothing.');
    else if (await copyText(text)) announce('Copied.');
    else notify('The browser did not let Tandem copy.');
  }
}
