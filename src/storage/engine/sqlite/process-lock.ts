import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { UnusableDatabase } from '../database-errors.ts';
import { createPrivately } from './sqlite.ts';

const BUSY = 5;

/**
 * Returns the function that unlocks. The lock also ends when the process ends or crashes. Two
 * processes on one SQLite file would block each other and both assume that they own every lease.
 */
export function lockProcess(path: string): () => void {
  const lockPath = `${path}.lock`;
  createPrivately(lockPath);
  const lock = openLock(lockPath);
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    const fix = 'Stop it first; several replicas need PostgreSQL';
    throw new Error(`Another process uses ${path} (it holds ${lockPath}). ${fix}.`, {
      cause: error,
    });
  }
  return () => lock.close();
}

function openLock(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch {
    throw new UnusableDatabase(`${path} cannot be opened`, 'make the user of Signalbox its owner');
  }
}

/** Checks the lock without waiting, and holds it only for a moment, so that no start fails. */
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
