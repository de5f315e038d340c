import { settings } from '../settings.ts';
import { nameOfCommand, outcomeWords, type Command } from './command.ts';

/** A command that ran longer than this is worth a notification, in milliseconds. */
export const LONG = 10_000;

/** Whether this browser can notify at all. */
export function canNotify(): boolean {
  return typeof Notification === 'function' && isSecureContext;
}

/** Asks the person for the permission to notify. Must be called from a click or key. Resolves to whether it was given. */
export async function askPermission(): Promise<boolean> {
  return canNotify() && (await Notification.requestPermission()) === 'granted';
}

/** Tells the system that a command ended, if the person wants that. `show` is called when they follow it. */
export function notifyEnd(command: Command, terminal: { id: string; title: string }, show: () => void): void {
  if (!settings.get().notify || !canNotify() || Notification.permission !== 'granted') return;
  let notification: Notification;
  try {
    notification = new Notification(nameOfCommand(command), { body: `${outcomeWords(command)} · ${terminal.title}`, tag: `tandem-${terminal.id}` });
  } catch {
    return; // Chrome on Android has the constructor, but no use for it
  }
  notification.onclick = () => {
    focus();
    show();
    notification.close();
  };
}
