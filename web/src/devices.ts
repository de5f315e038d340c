import { api, type Login } from './api.ts';
import { openDialog } from './dialog.ts';
import { button, h } from './dom.ts';

/**
 * Shows who is logged in, each login revocable. `loggedOut` is called after this device's own login was ended here.
 */
export function openDevices(loggedOut: () => void): void {
  const list = h('ul', { class: 'logins', 'aria-busy': 'true' }, h('li', { class: 'quiet' }, 'Loading…'));
  const said = h('p', { class: 'error', role: 'alert' });
  const dialog = openDialog('Devices', h('p', { class: 'quiet' }, 'Everyone who is logged in can use all terminals.'), list, said);
  const attempt = async (action: () => Promise<void>) => {
    said.textContent = '';
    try {
      await action();
    } catch (err) {
      said.textContent = (err as Error).message;
    }
  };
  const load = async () => {
    const logins = await api.logins();
    list.replaceChildren(...logins.map(row));
    list.removeAttribute('aria-busy');
  };
  const row = (login: Login) => {
    const end = login.current
      ? button('Log out', () => void attempt(async () => {
          await api.logout();
          dialog.close();
          loggedOut();
        }))
      : button('Revoke', () => void attempt(async () => {
          await api.revoke(login.id);
          await load();
        }));
    if (!login.current) end.setAttribute('aria-label', `Revoke ${login.device}`);
    const where = login.current ? 'This device' : `Last seen ${when(login.last_seen)}`;
    return h(
      'li',
      { class: 'login' },
      h('div', {}, h('strong', {}, login.device), h('span', { class: 'quiet' }, `${where} · ${login.address}`)),
      end,
    );
  };
  void attempt(load);
}

function when(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? 'at an unknown time' : date.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
}
