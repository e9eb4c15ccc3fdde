import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { UnusableDatabase } from '../database-errors.ts';
import { explainSqliteError } from './explain-error.ts';
import { createPrivately } from './sqlite.ts';

const BUSY = 5;

/**
 * Returns the function that unlocks. The lock also ends when the process ends or crashes. Two
 * processes on one SQLite file would block each other and both assume that they own every lease.
 */
export async function lockProcess(path: string): Promise<() => void> {
  const lockPath = `${path}.lock`;
  createPrivately(lockPath);
  const lock = openLock(lockPath);
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw await explainSqliteError(path, error);
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
    if (isBusy(error)) return true;
    throw error;
  } finally {
    lock.close();
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === BUSY;
}
