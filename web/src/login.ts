import { api, ApiError } from './api.ts';
import { button, h } from './dom.ts';

const PREFIX = '#login=';

/**
 * Logs in by the one-time link the page was opened with, if it was. The secret leaves the address bar before anything
 * else happens. Returns undefined without a link, else whether it worked, or why not.
 */
export async function loginByLink(): Promise<{ problem: string | undefined } | undefined> {
  if (!location.hash.startsWith(PREFIX)) return undefined;
  const secret = location.hash.slice(PREFIX.length);
  history.replaceState(history.state, '', location.pathname + location.search);
  try {
    await api.loginByLink(decodeURIComponent(secret));
    return { problem: undefined };
  } catch (err) {
    const used = err instanceof ApiError && (err.status === 401 || err.status === 410);
    return { problem: used ? 'This login link was used or is too old. Make another with "tandem login-link".' : message(err) };
  }
}

let shown: Promise<void> | undefined;

/**
 * Covers the page with the login form, and resolves when somebody has logged in. What is below stays as it is. While
 * the form is shown, further calls share it.
 */
export function askLogin(problem = ''): Promise<void> {
  shown ??= show(problem).finally(() => (shown = undefined));
  return shown;
}

function show(problem: string): Promise<void> {
  const password = h('input', {
    id: 'password',
    type: 'password',
    name: 'password',
    autocomplete: 'current-password',
    required: true,
  });
  const said = h('p', { class: 'error', role: 'alert' }, problem);
  const enter = button('Log in', () => undefined, 'primary');
  enter.type = 'submit';
  const form = h(
    'form',
    { class: 'login-form' },
    h('h2', { id: 'login-title' }, 'Log in to Tandem'),
    h('label', { for: 'password' }, 'Password'),
    password,
    said,
    enter,
    h('p', { class: 'quiet' }, 'No password? Open the link the server printed at its start, or make a new one there:'),
    h('p', {}, h('code', {}, 'tandem login-link')),
  );
  const dialog = h('dialog', { class: 'login-page', 'aria-labelledby': 'login-title' }, form);
  dialog.addEventListener('cancel', (event) => event.preventDefault());
  document.body.append(dialog);
  dialog.showModal();
  password.focus();
  return new Promise((resolve) => {
    const done = () => {
      removeEventListener('hashchange', onLink);
      dialog.remove();
      resolve();
    };
    // A login link pasted over the address of this page.
    const onLink = async () => {
      const link = await loginByLink();
      if (!link) return;
      if (link.problem === undefined) done();
      else said.textContent = link.problem;
    };
    addEventListener('hashchange', onLink);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      enter.disabled = true;
      said.textContent = '';
      try {
        await api.login(password.value);
        done();
      } catch (err) {
        const wrong = err instanceof ApiError && err.status === 401;
        said.textContent = wrong ? 'Wrong password.' : message(err);
        enter.disabled = false;
        password.select();
      }
    });
  });
}

function message(err: unknown): string {
  if (err instanceof ApiError && err.status === 429) {
    return `Too many attempts. Try again in ${Math.max(err.retryAfter, 1)} seconds.`;
  }
  return err instanceof Error ? err.message : String(err);
}
