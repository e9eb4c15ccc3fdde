import { type Dialect, Kysely } from 'kysely';
import { openPostgres } from '../../src/storage/engine/postgres.ts';
import { openSqlite, sqlitePath } from '../../src/storage/engine/sqlite.ts';
import { MIGRATIONS, migrate } from '../../src/storage/migrations/migrate.ts';
import type { Tables } from '../../src/storage/tables/schema.ts';

const addColumn = () => ['alter table change add column weight integer'];

/** Migrates the database as a newer release with one more migration does. */
export async function migrateAsNewer(url: string, oldestCompatible: number): Promise<void> {
  const root = new Kysely<Tables>({ dialect: dialectOf(url) });
  try {
    await migrate(root, { migrations: [...MIGRATIONS, addColumn], oldestCompatible });
  } finally {
    await root.destroy();
  }
}

function dialectOf(url: string): Dialect {
  if (url.startsWith('file:')) return openSqlite(sqlitePath(url));
  return openPostgres(url, { onError: () => undefined });
}
