import { DatabaseSync } from 'node:sqlite';
import { createPrivately } from './sqlite.ts';

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
