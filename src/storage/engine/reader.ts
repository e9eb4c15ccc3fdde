import { type Dialect, Kysely } from 'kysely';
import { refuseUnreadable } from '../migrations/migrate.ts';
import type { Db, Tables } from '../tables/schema.ts';
import { openPostgres } from './postgres.ts';
import { explainSqliteError } from './sqlite/explain-error.ts';
import { openSqliteReader, sqlitePath } from './sqlite/sqlite.ts';

interface Reader {
  readonly db: Db;
  close(): Promise<void>;
}

/** Opens a database for reading next to a running bot: creates, locks and migrates nothing. */
export async function openReader(url: string): Promise<Reader> {
  if (!url.startsWith('file:')) return readerOf(openPostgres(url, { onError }));
  const path = sqlitePath(url);
  try {
    return await readerOf(openSqliteReader(path));
  } catch (error) {
    throw await explainSqliteError(path, error);
  }
}

const onError = (error: Error) => process.emitWarning(error);

async function readerOf(dialect: Dialect): Promise<Reader> {
  const db = new Kysely<Tables>({ dialect });
  try {
    await refuseUnreadable(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return { db, close: () => db.destroy() };
}
