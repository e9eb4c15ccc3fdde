import { type Dialect, Kysely } from 'kysely';
import { MIGRATIONS, migrate } from '../../src/storage/old/migrate.ts';
import { openPostgres } from '../../src/storage/old/postgres.ts';
import type { Tables } from '../../src/storage/old/schema.ts';
import { openSqlite, sqlitePath } from '../../src/storage/sqlite.ts';

const addColumn = () => ['alter table change add column weight integer'];

type Release = Parameters<typeof migrate>[1];

/** Migrates the database as a newer release with one more migration does. */
export function migrateAsNewer(url: string, oldestCompatible: number): Promise<void> {
  return migrateAs(url, { migrations: [...MIGRATIONS, addColumn], oldestCompatible });
}

/** Starts on the database as the release whose last schema version is this one. */
export function migrateAsOlder(url: string, version: number): Promise<void> {
  return migrateAs(url, { migrations: MIGRATIONS.slice(0, version), oldestCompatible: 6 });
}

async function migrateAs(url: string, release: Release): Promise<void> {
  const root = new Kysely<Tables>({ dialect: dialectOf(url) });
  try {
    await migrate(root, release);
  } finally {
    await root.destroy();
  }
}

function dialectOf(url: string): Dialect {
  if (url.startsWith('file:')) return openSqlite(sqlitePath(url));
  return openPostgres(url, { onError: () => undefined });
}
