// What a start, a restore or the doctor must know of a database; nothing here creates or migrates it.
import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { keyProblem } from '../log/old/append.ts';
import { storedChannelIds } from '../log/old/channel-ids.ts';
import type { AuditKey } from '../log/old/key-ring.ts';
import { type LastOutcome, lastOutcomes } from '../log/old/last-outcomes.ts';
import { storedTrailError } from '../log/old/trail-marks.ts';
import { checkDiskSpace, explainSqliteError, folderProblem } from '../storage/errors.ts';
import { type Instance, listInstances } from '../storage/old/instances.ts';
import { writeMeta } from '../storage/old/meta.ts';
import {
  isCompatible,
  refuseIncompatible,
  SCHEMA_VERSION,
  schemaVersion,
} from '../storage/old/migrate.ts';
import {
  type Durability,
  onPostgres,
  readDurability,
  refuseLossy,
} from '../storage/old/postgres.ts';
import { openReader } from '../storage/old/reader.ts';
import type { Db } from '../storage/old/schema.ts';
import { runTransaction, singleCommits } from '../storage/old/transaction.ts';
import { isLocked, isRestoreInterrupted, sqlitePath } from '../storage/sqlite.ts';

/** The file of an SQLite database and the files next to it. */
export interface FileFacts {
  readonly path: string;
  /** False: the file does not exist yet, so that only the folder is checked. */
  readonly exists: boolean;
  /** The start is refused until `signalbox restore` runs again. */
  readonly restoreInterrupted: boolean;
  readonly folder: string;
  readonly folderIsWritable: boolean;
  /** Files that users other than the owner may read. */
  readonly readableByOthers: readonly string[];
  readonly ownedByUs: boolean;
  /** False where a start could not open the lock file, because it belongs to another user. */
  readonly lockIsUsable: boolean;
  /** A process of Signalbox has it open; false for a file of another user. */
  readonly running: boolean;
}

const FILE_SUFFIXES = ['', '-wal', '-shm', '.lock', '.head'];

/** Returns null for PostgreSQL and for a database in memory. */
export function fileFacts(url: string): FileFacts | null {
  if (!url.startsWith('file:') || url === 'file::memory:') return null;
  const path = resolve(sqlitePath(url));
  const own = statOf(path);
  const folder = dirname(path);
  const lock = `${path}.lock`;
  const lockIsUsable = statOf(lock) === null || isUsable(lock, constants.R_OK | constants.W_OK);
  const ownedByUs = own === null || process.getuid === undefined || own.uid === process.getuid();
  const readable = FILE_SUFFIXES.map((suffix) => `${path}${suffix}`).filter(
    (file) => ((statOf(file)?.mode ?? 0) & 0o077) !== 0,
  );
  return {
    path,
    exists: own !== null,
    restoreInterrupted: isRestoreInterrupted(path),
    folder,
    folderIsWritable: isUsable(folder, constants.W_OK),
    readableByOthers: process.platform === 'win32' ? [] : readable,
    ownedByUs,
    lockIsUsable,
    // The lock file of another user cannot be opened.
    running: own !== null && ownedByUs && lockIsUsable && isLocked(path),
  };
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function isUsable(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch (error) {
    // The reason does not matter: the fix names the file or folder.
    if (error instanceof Error) return false;
    throw error;
  }
}

export interface DatabaseInspection {
  /** The schema version; 0 for a database that Signalbox has not used. */
  readonly schema: number;
  /** The schema version of this release. */
  readonly known: number;
  /** Signalbox has used the database, and this release can use its schema. */
  readonly isReadable: boolean;
  readonly durability: Durability | null;
  /** The limit of a statement, as the server applies it, for example `10s`; null for SQLite. */
  readonly statementTimeout: string | null;
  /** The clock of the server, and of this machine halfway through the query, in milliseconds. */
  readonly clock: { readonly server: Date; readonly here: number } | null;
  readonly mayCreateTables: boolean;
  readonly keyProblem: 'key-missing' | 'key-differs' | null;
  /** The problem that the last verification of the audit trail found, or null. */
  readonly trailProblem: string | null;
  readonly instances: readonly Instance[];
}

/** Reads the facts for the doctor. Safe next to a running bot: it creates and migrates nothing. */
export async function inspectDatabase(url: string, key: AuditKey): Promise<DatabaseInspection> {
  return withDb(url, 'read', async (db) => {
    const known = SCHEMA_VERSION;
    const schema = await schemaVersion(db);
    const isServer = onPostgres(db);
    const isReadable = schema > 0 && (await isCompatible(db, schema));
    return {
      schema,
      known,
      isReadable,
      durability: isServer ? await readDurability(db) : null,
      ...(isServer ? await serverFacts(db) : FILE_HAS),
      keyProblem: isReadable ? await keyProblem(db, key) : null,
      trailProblem: isReadable ? await storedTrailError(db) : null,
      instances: isReadable ? await listInstances(db) : [],
    };
  });
}

const FILE_HAS = { statementTimeout: null, clock: null, mayCreateTables: true };

async function serverFacts(db: Db) {
  const started = Date.now();
  const { now, limit, may } = await db
    .selectNoFrom((eb) => [
      eb.fn<Date>('clock_timestamp').as('now'),
      eb.fn<string>('current_setting', [eb.val('statement_timeout')]).as('limit'),
      eb
        .fn<boolean | null>('has_schema_privilege', [eb.fn('current_schema'), eb.val('create')])
        .as('may'),
    ])
    .executeTakeFirstOrThrow();
  const clock = { server: now, here: (started + Date.now()) / 2 };
  return { statementTimeout: limit, clock, mayCreateTables: may === true };
}

/** The last outcome of each change command. Needs a readable schema. */
export async function readLastOutcomes(url: string): Promise<readonly LastOutcome[]> {
  return withDb(url, 'read', lastOutcomes);
}

/** The ids of the channels that Signalbox has resolved by name; none where the file does not exist yet. */
export async function readChannelIds(url: string): Promise<ReadonlyMap<string, string>> {
  if (fileFacts(url)?.exists === false) return new Map();
  return withDb(url, 'read', storedChannelIds);
}

/** Throws where a start could not use the database. It creates and migrates nothing. */
export async function refuseUnusable(url: string): Promise<void> {
  const file = fileFacts(url);
  if (file ? !file.exists : url.startsWith('file:')) return;
  await withDb(url, 'read', async (db) => {
    if (onPostgres(db)) refuseLossy(await readDurability(db));
    await refuseIncompatible(db, await schemaVersion(db));
  });
}

/** Whether Signalbox has no table in the database yet. */
export async function isUnused(url: string): Promise<boolean> {
  return withDb(url, 'read', async (db) => (await schemaVersion(db)) === 0);
}

/**
 * Writes a row and rolls back; throws if the write is refused, or if the disk of an SQLite file is full. Needs a
 * known schema.
 */
export async function checkWritable(url: string): Promise<void> {
  const rollback = new Error('rolled back');
  await withDb(url, 'write', async (db) => {
    await runTransaction(singleCommits(db), async (tx) => {
      await writeMeta(tx, 'doctor', 'write test');
      throw rollback;
    }).catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
  });
  const file = fileFacts(url);
  if (!file) return;
  const problem = folderProblem(file.path);
  if (problem) throw problem;
  await checkDiskSpace(file.path);
}

/** Closes the database after the work. Errors of an SQLite file say what is wrong with it. */
async function withDb<T>(
  url: string,
  purpose: 'read' | 'write',
  work: (db: Db) => Promise<T>,
): Promise<T> {
  let close: () => Promise<void> = async () => undefined;
  try {
    const reader = await openReader(url, { inspects: true, writes: purpose === 'write' });
    close = reader.close;
    return await work(reader.db);
  } catch (error) {
    const file = fileFacts(url);
    throw file ? await explainSqliteError(file.path, error) : error;
  } finally {
    await close();
  }
}
