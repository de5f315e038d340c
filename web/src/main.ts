import '@xterm/xterm/css/xterm.css';
import { openStore } from './ahp/open.ts';
import type { Store } from './ahp/store.ts';
import { api, ApiError, Unreachable, type Session } from './api.ts';
import { byId } from './dom.ts';
import { Backoff } from './lane/backoff.ts';
import { askLogin, loginByLink } from './login.ts';
import { followTheme } from './theme.ts';
import { followKeyboard } from './viewport.ts';
import { Workbench } from './workbench.ts';

/** How long the font may take before terminals are measured without it, in milliseconds. */
const FONT_TIME = 1_500;

/** How long the connection may take before the page says that it waits for it, in milliseconds. */
const QUIET = 1_000;

async function start(): Promise<void> {
  followKeyboard();
  let workbench: Workbench | undefined;
  followTheme(() => workbench?.restyle());
  const font = loadFont();
  const link = await loginByLink();
  const session = await load(link?.problem);
  const store = openStore(session);
  await connected(store);
  await font; // cells are measured once, in the font's own width
  byId('cover').hidden = true;
  workbench = new Workbench(session, store);
}

/** Asks the server who we are, for as long as it takes. */
async function load(problem: string | undefined): Promise<Session> {
  const backoff = new Backoff();
  for (;;) {
    try {
      return await api.session();
    } catch (err) {
      if (err instanceof ApiError && err.status === 401) {
        await askLogin(problem);
        continue;
      }
      if (!(err instanceof Unreachable) && !(err instanceof ApiError)) throw err;
      cover(`${err.message} Trying again…`);
      await new Promise((resolve) => setTimeout(resolve, backoff.next()));
    }
  }
}

/** Waits until the store knows what is there. */
function connected(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => cover('Connecting to the server…'), QUIET);
    const stop = store.listen({
      connected: () => {
        clearTimeout(late);
        stop();
        resolve();
      },
      needsLogin: () => void askLogin().then(() => store.nudge()),
    });
  });
}

function cover(text: string): void {
  const element = byId('cover');
  element.textContent = text;
  element.hidden = false;
}

async function loadFont(): Promise<void> {
  const faces = ['', 'bold ', 'italic '].map((face) => document.fonts.load(`${face}14px "JetBrains Mono"`));
  const late = new Promise((resolve) => setTimeout(resolve, FONT_TIME));
  await Promise.race([Promise.allSettled(faces), late]);
}

void start();
