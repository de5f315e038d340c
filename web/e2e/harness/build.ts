import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The repository's root folder, with a trailing slash. */
export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Where the binary under test is built; git ignores the folder. */
export const binary = `${root}.build/e2e/tandem`;

/** Builds the binary once for the whole run. TANDEM_E2E_BINARY names a ready one and skips the build. */
export default async function setup(): Promise<void> {
  if (process.env.TANDEM_E2E_BINARY) return;
  await promisify(execFile)('go', ['build', '-o', binary, '.'], { cwd: root });
}
