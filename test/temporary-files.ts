import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
const NEEDED_BYTES = 2 ** 31;

/**
 * The folder for databases and other temporary files of a run. In memory, creating a table takes a third of the
 * processor time that it takes on a disk. The disk is used if there is not enough memory or if TMPDIR names a folder.
 */
export function temporaryFolder(): string {
  if (process.env.TMPDIR || !existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= NEEDED_BYTES ? MEMORY : tmpdir();
}

/** Names this folder for the workers of the run and the browser. */
export function shareTemporaryFolder(): void {
  process.env.TMPDIR = temporaryFolder();
}
