import { type Dialect, Kysely } from 'kysely';
import { explainSqliteError, UnusableDatabase } from '../errors.ts';
import { immutableName, openSqlite, openSqliteReader, sqlitePath } from '../sqlite.ts';
import { refuseUnreadable } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import type { Db, Tables } from './schema.ts';

interface Reader {
  readonly db: Db;
  close(): Promise<void>;
}

/**
 * Opens a database for reading next to a running bot: creates, locks and migrates nothing. Throws
 * where this release cannot read the schema, unless `inspects`: then it may have any schema, or none,
 * and a lost connection is no warning. With `writes`, the test of a write is possible.
 */
export async function openReader(url: string, { inspects = false, writes = false } = {}) {
  const onError = inspects ? () => undefined : (error: Error) => process.emitWarning(error);
  if (!url.startsWith('file:')) return readerOf(openPostgres(url, { onError }), inspects);
  const path = sqlitePath(url);
  try {
    return await readerOf((writes ? openSqlite : openSqliteReader)(path), inspects);
  } catch (error) {
    throw await explainSqliteError(path, error);
  }
}

/** Throws with the path where a file is not a backup of Signalbox that this release can read. */
export async function refuseOtherFile(path: string): Promise<void> {
  try {
    await (await readerOf(openSqliteReader(immutableName(path)))).close();
  } catch (error) {
    if (error instanceof UnusableDatabase) throw error;
    throw new Error(backupProblem(path, error), { cause: error });
  }
}

const NOT_A_DATABASE = [11, 26];

function backupProblem(path: string, error: unknown): string {
  if (!(error instanceof Error)) return `The backup ${path} cannot be read: ${String(error)}`;
  if (!('errcode' in error)) return `${path} is not a backup of Signalbox. ${error.message}`;
  const code = Number(error.errcode) & 0xff;
  return NOT_A_DATABASE.includes(code)
    ? `${path} is not a Signalbox database, or it is damaged. Name a file that “signalbox backup” made`
    : `The backup ${path} cannot be read: ${error.message}. Check its owner and its mode`;
}

async function readerOf(dialect: Dialect, inspects = false): Promise<Reader> {
  const db = new Kysely<Tables>({ dialect });
  try {
    if (!inspects) await refuseUnreadable(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return { db, close: () => db.destroy() };
}
