import { type Kysely, sql } from 'kysely';
import { UnusableDatabase } from '../errors.ts';
import { initialTables } from './001-initial.ts';
import { costTables } from './002-costs.ts';
import { effectNotices } from './003-effect-notices.ts';
import { breakGlassTimingFreezes } from './004-break-glass-timing-freezes.ts';
import { frozenBy } from './005-frozen-by.ts';
import { rateLimits } from './006-rate-limits.ts';
import { changeIndexes } from './007-change-indexes.ts';
import { outboxAge } from './008-outbox-age.ts';
import { freezeEvents } from './009-freeze-events.ts';
import { trailMarks } from './010-trail-marks.ts';
import { acceptanceIndex } from './011-accepted-gaps.ts';
import { clickSignatures } from './012-click-signatures.ts';
import { followUps } from './013-follow-ups.ts';
import { stateChecks } from './014-state-checks.ts';
import { schedules } from './015-schedules.ts';
import { auditArchive } from './016-audit-archive.ts';
import { growthIndexes } from './017-growth-indexes.ts';
import { sentChanges } from './018-sent-changes.ts';
import { readMeta, writeMeta } from './meta.ts';
import { onPostgres } from './postgres.ts';
import type { Db, Tables, Tx } from './schema.ts';

// Append only: never edit a migration that ran anywhere. It must only add: old replicas continue on
// the new schema (docs/upgrading.md).
export const MIGRATIONS = [
  initialTables,
  costTables,
  effectNotices,
  breakGlassTimingFreezes,
  frozenBy,
  rateLimits,
  changeIndexes,
  outboxAge,
  freezeEvents,
  trailMarks,
  acceptanceIndex,
  clickSignatures,
  followUps,
  stateChecks,
  schedules,
  auditArchive,
  growthIndexes,
  sentChanges,
];
export const SCHEMA_VERSION = MIGRATIONS.length;
// The oldest release that works on this schema: 1.0 had version 6. Raise it only for a migration
// that does not only add.
const OLDEST_COMPATIBLE = 6;
const VERSION_KEY = 'schema-version';
const OLDEST_KEY = 'oldest-compatible-schema';

/** What a release knows of the schema. */
interface SchemaRelease {
  readonly migrations: readonly (typeof initialTables)[];
  /** Releases whose last schema version is lower do not start any more. */
  readonly oldestCompatible: number;
}

const RELEASE: SchemaRelease = { migrations: MIGRATIONS, oldestCompatible: OLDEST_COMPATIBLE };

export const NEWER_SCHEMA_FIX =
  'run the newer Signalbox, or restore the backup from before its upgrade';

// An arbitrary number, which must be the same in every release.
const LOCK = 7_301_946;

/**
 * Migrates the schema and returns its version, which is higher than that of this release where a newer
 * compatible release migrated before. If several replicas start at once, one migrates and the others
 * wait. Throws where a newer release made the schema incompatible.
 */
export async function migrate(root: Kysely<Tables>, release = RELEASE): Promise<number> {
  return root.transaction().execute(async (tx) => {
    await waitForOthers(tx);
    const version = await schemaVersion(tx);
    const known = release.migrations.length;
    await refuseIncompatible(tx, version, known);
    if (version >= known) return version;
    for (const migration of release.migrations.slice(version)) await run(tx, migration);
    await writeMeta(tx, VERSION_KEY, String(known));
    await requireSchema(tx, release.oldestCompatible);
    return known;
  });
}

/** Releases whose last schema version is lower do not start any more on this database. */
export async function requireSchema(tx: Tx, oldest: number): Promise<void> {
  const stored = Number((await readMeta(tx, OLDEST_KEY)) ?? 0);
  await writeMeta(tx, OLDEST_KEY, String(Math.max(oldest, stored)));
}

/** Throws if this release cannot read the schema. For tools that only read. */
export async function refuseUnreadable(db: Db): Promise<void> {
  const version = await schemaVersion(db);
  await refuseIncompatible(db, version);
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

/** Whether this release can use the schema: its own, an older one, or a compatible newer one. */
export async function isCompatible(
  db: Db,
  version: number,
  known = SCHEMA_VERSION,
): Promise<boolean> {
  return version <= known || known >= (await oldestCompatible(db, version));
}

// A newer release always stores the minimum; without it the schema counts as incompatible.
async function oldestCompatible(db: Db, version: number): Promise<number> {
  const stored = Number((await readMeta(db, OLDEST_KEY)) ?? version);
  return Number.isInteger(stored) ? stored : version;
}

/** Throws UnusableDatabase if this release cannot use this version of the schema. */
export async function refuseIncompatible(
  db: Db,
  version: number,
  known = SCHEMA_VERSION,
): Promise<void> {
  if (await isCompatible(db, version, known)) return;
  throw new UnusableDatabase(
    `This database has schema version ${version}, which needs a Signalbox with version ` +
      `${await oldestCompatible(db, version)} or later. This Signalbox has ${known}.`,
    NEWER_SCHEMA_FIX,
  );
}

async function run(tx: Tx, migration: typeof initialTables): Promise<void> {
  const statements = migration(onPostgres(tx) ? 'postgres' : 'sqlite');
  for (const statement of statements) await sql.raw(statement).execute(tx);
}
