import { existsSync, renameSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { hasNoSpace } from './disk-space.ts';
import { createPrivately, immutableName } from './sqlite.ts';

const MAX_PAGES = 2 ** 31 - 1;
/** SQLITE_FULL, and SQLITE_IOERR_WRITE: the source is only read, so that both are about the copy. */
const FULL = [13, 778];

/**
 * Copies an SQLite database to a new file that only its owner can read, also while another process writes.
 * The copy has every commit from before the call. It appears under its name only when it is complete.
 */
export async function copySqlite(from: string, to: string): Promise<void> {
  if (existsSync(to)) throw new Error(`${to} exists already: name a new file`);
  const partial = `${to}.partial`;
  removeCopy(partial);
  const source = new DatabaseSync(from, { readOnly: true });
  try {
    createPrivately(partial);
    // All pages in one step: with smaller steps each commit of the other process begins the copy again.
    await backup(source, partial, { rate: MAX_PAGES });
    refuseDamaged(partial);
    renameSync(partial, to);
  } catch (error) {
    throw isFull(error) ? new Error(`The disk of ${to} is full: free some space`) : error;
  } finally {
    source.close();
    removeCopy(partial);
  }
}

/** A journal that stays would be applied to the next copy with this name. */
function removeCopy(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal'])
    rmSync(`${path}${suffix}`, { force: true });
}

function isFull(error: unknown): boolean {
  if (error instanceof Error && 'errcode' in error) return FULL.includes(Number(error.errcode));
  return hasNoSpace(error);
}

function refuseDamaged(path: string): void {
  const copy = new DatabaseSync(immutableName(path), { readOnly: true });
  try {
    const [row] = copy.prepare('pragma integrity_check(1)').all();
    if (row?.integrity_check !== 'ok') {
      throw new Error(`The copy is damaged (${String(row?.integrity_check)}): it was deleted`);
    }
  } finally {
    copy.close();
  }
}
