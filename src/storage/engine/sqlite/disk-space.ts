import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The disk of a file has too little space. It passes without a new start when there is space again. */
export class FullDisk extends Error {
  override readonly name = 'FullDisk';
  readonly hint: string;

  constructor(path: string, cause: Error & { code: string }) {
    const disk = mountPoint(path);
    super(`the disk ${disk} has less than 1 MiB free for ${path} (${cause.code})`, { cause });
    this.hint = `free some space on ${disk}; a running Signalbox then continues by itself`;
  }
}

/** No space on the disk, a quota of the user, a limit of the process. */
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** The index of a write-ahead log alone has 32 KiB, and its log grows up to 4 MiB. */
const PROBE_BYTES = 1_048_576;

/**
 * Writes 1 MiB next to the file and deletes it. Throws `FullDisk` where there is no room for it. A transaction that is
 * rolled back shows no full disk: SQLite keeps its pages in memory.
 */
export async function checkDiskSpace(path: string): Promise<void> {
  const probe = `${path}.disk-test-${randomBytes(4).toString('hex')}`;
  try {
    const file = await open(probe, 'wx', 0o600);
    await fill(file).finally(() => rm(probe, { force: true }));
  } catch (error) {
    throw hasNoSpace(error) ? new FullDisk(path, error) : error;
  }
}

async function fill(file: FileHandle): Promise<void> {
  try {
    await file.writeFile(Buffer.alloc(PROBE_BYTES));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Whether the file system refused to write because of a full disk, a quota or a limit. */
export function hasNoSpace(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && FULL.includes(String(error.code));
}

/** The highest folder of the path on the same file system. */
function mountPoint(path: string): string {
  const folder = dirname(path);
  const parent = dirname(folder);
  return parent === folder || statSync(parent).dev !== statSync(folder).dev
    ? folder
    : mountPoint(folder);
}
