import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { binary as builtBinary } from './build';

const binary = process.env.TANDEM_E2E_BINARY ?? builtBinary;

// The prompt names the folder, so that a test can see where a shell stands.
const profile = "PS1='e2e:\\w$ '\nunset PROMPT_COMMAND HISTFILE\n";

/** The prompt of the test shells in their home folder. */
export const prompt = 'e2e:~$';

/** A running Tandem with a home and a data folder of its own. */
export interface Tandem {
  /** Address of the page, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Home of its shells, and the folder where they start. */
  readonly home: string;
  /** What the server has printed so far: standard output and standard error. */
  output(): string;
  /** A login link that nobody has used yet. */
  link(): Promise<string>;
  /** A new token for a program, with which it may read and write. */
  token(name: string): Promise<string>;
  /** SIGTERM, and a start with the same port, folders and options. */
  restart(): Promise<void>;
  /** SIGTERM; resolves when the server has exited. Throws when it failed or left a process behind. */
  stop(): Promise<void>;
  /** stop, then removes the folders. */
  dispose(): Promise<void>;
}

/** Starts the binary on a free loopback port; `settings` are added to its environment, so TANDEM_* are its options. */
export async function startTandem(settings: Record<string, string> = {}): Promise<Tandem> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'tandem-e2e-')));
  const home = join(base, 'home');
  const data = join(base, 'data');
  const mark = randomUUID(); // in the environment of every process that this server starts
  await mkdir(home);
  await writeFile(join(home, '.bashrc'), profile);
  await writeFile(join(home, '.bash_profile'), profile);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}${settings.TANDEM_BASE_PATH ?? ''}`;

  const env: NodeJS.ProcessEnv = { HOME: home, PATH: process.env.PATH, SHELL: '/bin/bash', LANG: 'C.UTF-8', USER: process.env.USER, E2E_MARK: mark, ...settings };
  const args = ['serve', home, '--listen', `127.0.0.1:${port}`, '--data', data, '--shell', '/bin/bash'];
  let output = '';
  let child: ChildProcess | undefined;
  let exited = Promise.resolve<number | null>(0);

  async function start(): Promise<void> {
    const before = output.length;
    // The kernel ends the server when a killed test run cannot.
    const started = spawn('setpriv', ['--pdeathsig', 'TERM', binary, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    started.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
    started.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
    exited = new Promise((resolve, reject) => {
      started.once('error', reject);
      started.once('exit', resolve);
    });
    let ended = false;
    void exited.catch(() => null).then(() => (ended = true));
    await until(async () => {
      if (ended) throw new Error(`tandem ended at its start:\n${output.slice(before)}`);
      return fetch(`${url}/readyz`).then((answer) => answer.ok, () => false);
    }, 'tandem to be ready');
  }

  async function stop(): Promise<void> {
    if (!child) return;
    child.kill('SIGTERM');
    const code = await exited;
    child = undefined;
    if (code !== 0) throw new Error(`tandem exited with ${code}:\n${output}`);
    await until(async () => (await processesWith(mark)).length === 0, 'the processes of every shell to end');
  }

  const tandem: Tandem = {
    url,
    port,
    home,
    output: () => output,
    async link() {
      const { stdout } = await promisify(execFile)(binary, ['login-link', '--data', data], { env });
      const link = /http\S+#login=\S+/.exec(stdout);
      if (!link) throw new Error(`no link in the output of login-link:\n${stdout}`);
      return link[0];
    },
    async token(name) {
      const { stdout } = await promisify(execFile)(binary, ['token', 'create', '--data', data, '--name', name, '--scope', 'terminals:read,terminals:write'], { env });
      return stdout.trim();
    },
    async restart() {
      await stop();
      await start();
    },
    stop,
    async dispose() {
      try {
        await stop();
      } finally {
        await rm(base, { recursive: true, force: true });
      }
    },
  };

  try {
    await start();
  } catch (error) {
    child?.kill('SIGKILL');
    await rm(base, { recursive: true, force: true });
    throw error;
  }
  return tandem;
}

/** Polls until `condition` holds; throws what was awaited after 20 s. */
export async function until(condition: () => Promise<boolean>, what: string, deadline = 20_000): Promise<void> {
  const end = Date.now() + deadline;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited ${deadline} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Ids of the processes whose environment holds `mark`. Zombies have no environment and do not count. */
async function processesWith(mark: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    if (environment.includes(`E2E_MARK=${mark}`)) found.push(pid);
  }
  return found;
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const listener = createServer();
    listener.once('error', reject);
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address();
      listener.close(() => (address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}
