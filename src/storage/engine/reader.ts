import { type Dialect, Kysely } from 'kysely';
import { refuseUnreadable } from '../migrations/migrate.ts';
import type { Db, Tables } from '../tables/schema.ts';
import { openPostgres } from './postgres.ts';
import { openSqliteReader, sqlitePath } from './sqlite/sqlite.ts';

interface Reader {
  readonly db: Db;
  close(): Promise<void>;
}

/** Opens a database for reading next to a running bot: creates, locks and migrates nothing. */
export async function openReader(url: string): Promise<Reader> {
  const db = new Kysely<Tables>({ dialect: dialectOf(url) });
  try {
    await refuseUnreadable(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return { db, close: () => db.destroy() };
}

function dialectOf(url: string): Dialect {
  if (url.startsWith('file:')) return openSqliteReader(sqlitePath(url));
  return openPostgres(url, { onError: (error) => process.emitWarning(error) });
}
