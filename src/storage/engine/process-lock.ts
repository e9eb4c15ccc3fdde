import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createPrivately } from './sqlite.ts';

const BUSY = 5;

/**
 * Held until it is called or the process dies, however it dies. Two processes on one SQLite file
 * would block each other's event loops and both believe that they own every lease.
 */
export function lockProcess(path: string): () => void {
  const lockPath = `${path}.lock`;
  createPrivately(lockPath);
  const lock = new DatabaseSync(lockPath, { timeout: 0 });
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    const way = 'Stop it first; several replicas need PostgreSQL';
    throw new Error(`Another process has ${path} (it holds ${lockPath}). ${way}.`, {
      cause: error,
    });
  }
  return () => lock.close();
}

/** Asks without waiting, and lets go at once: a start in that moment would find the file taken. */
export function isLocked(path: string): boolean {
  const lockPath = `${path}.lock`;
  if (!existsSync(lockPath)) return false;
  const lock = new DatabaseSync(lockPath, { readOnly: true, timeout: 0 });
  try {
    lock.exec('select count(*) from sqlite_master');
    return false;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return true;
    throw error;
  } finally {
    lock.close();
  }
}
