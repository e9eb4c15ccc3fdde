import { type Kysely, sql } from 'kysely';
import { onPostgres } from '../engine/postgres.ts';
import { readMeta, writeMeta } from '../tables/meta.ts';
import type { Db, Tables, Tx } from '../tables/schema.ts';
import { initialTables } from './001-initial.ts';
import { costTables } from './002-costs.ts';
import { effectNotices } from './003-effect-notices.ts';
import { breakGlassTimingFreezes } from './004-break-glass-timing-freezes.ts';
import { frozenBy } from './005-frozen-by.ts';
import { rateLimits } from './006-rate-limits.ts';

// Append only: never edit a migration that ran anywhere. It must only add: old replicas continue on
// the new schema (docs/upgrading.md).
const MIGRATIONS = [
  initialTables,
  costTables,
  effectNotices,
  breakGlassTimingFreezes,
  frozenBy,
  rateLimits,
];
export const SCHEMA_VERSION = MIGRATIONS.length;
const VERSION_KEY = 'schema-version';

// An arbitrary number, which must be the same in every release.
const LOCK = 7_301_946;

/** Migrates the schema. If several replicas start at once, one migrates and the others wait. */
export async function migrate(root: Kysely<Tables>): Promise<void> {
  await root.transaction().execute(async (tx) => {
    await waitForOthers(tx);
    const version = await schemaVersion(tx);
    refuseNewer(version);
    if (version === SCHEMA_VERSION) return;
    for (const migration of MIGRATIONS.slice(version)) await run(tx, migration);
    await writeMeta(tx, VERSION_KEY, String(SCHEMA_VERSION));
  });
}

/** Throws if this release cannot read the schema. For tools that only read. */
export async function refuseUnreadable(db: Db): Promise<void> {
  const version = await schemaVersion(db);
  refuseNewer(version);
  if (version > 0) return;
  throw new Error('There is no audit trail in this database: Signalbox has not used it yet.');
}

// On SQLite, the transaction holds the only write lock from its first statement.
async function waitForOthers(tx: Tx): Promise<void> {
  if (!onPostgres(tx)) return;
  await sql`set local lock_timeout = '60s'`.execute(tx);
  await sql`set local statement_timeout = 0`.execute(tx);
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(tx);
}

/** Returns 0 for an empty database. Needs no permission to create tables. */
export async function schemaVersion(db: Db): Promise<number> {
  if (!(await hasMeta(db))) return 0;
  const version = Number(await readMeta(db, VERSION_KEY));
  if (Number.isInteger(version)) return version;
  throw new Error('The schema version of this database cannot be read');
}

async function hasMeta(db: Db): Promise<boolean> {
  const { rows } = onPostgres(db)
    ? await sql`select 1 where to_regclass('meta') is not null`.execute(db)
    : await sql`select 1 from sqlite_master where type = 'table' and name = 'meta'`.execute(db);
  return rows.length > 0;
}

function refuseNewer(version: number): void {
  if (version <= SCHEMA_VERSION) return;
  throw new Error(
    `This database has schema version ${version} and this Signalbox knows versions up to ` +
      `${SCHEMA_VERSION}. Start the newer Signalbox again, or restore the backup made before it.`,
  );
}

async function run(tx: Tx, migration: typeof initialTables): Promise<void> {
  const statements = migration(onPostgres(tx) ? 'postgres' : 'sqlite');
  for (const statement of statements) await sql.raw(statement).execute(tx);
}
