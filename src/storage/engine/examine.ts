import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Kysely, sql } from 'kysely';
import { keyProblem } from '../audit/append.ts';
import { storedTrailError } from '../audit/trail-errors.ts';
import { SCHEMA_VERSION, schemaVersion } from '../migrations/migrate.ts';
import { type Instance, listInstances } from '../tables/instances.ts';
import { writeMeta } from '../tables/meta.ts';
import type { Db, Tables } from '../tables/schema.ts';
import { type Durability, onPostgres, openPostgres, readDurability } from './postgres.ts';
import { isLocked } from './process-lock.ts';
import { openSqlite, openSqliteReader, sqlitePath } from './sqlite.ts';
import { runTransaction } from './transaction.ts';

/** The file of an SQLite database and what lies beside it. */
export interface FileFacts {
  readonly path: string;
  /** Where it is not there so far, the folder is what counts. */
  readonly exists: boolean;
  readonly folder: string;
  readonly folderIsWritable: boolean;
  /** Files that others than their owner may read. */
  readonly readableByOthers: readonly string[];
  readonly ownedByUs: boolean;
  /** A process of Signalbox has it open; false where the file is another user's. */
  readonly running: boolean;
}

export interface DatabaseInspection {
  /** 0: Signalbox has not used it yet. */
  readonly schema: number;
  /** What this release brings it to. */
  readonly known: number;
  readonly durability: Durability | null;
  /** The server's clock, and this machine's in the middle of the question. */
  readonly clock: { readonly server: Date; readonly here: number } | null;
  readonly mayCreateTables: boolean;
  readonly keyProblem: 'key-missing' | 'key-differs' | null;
  /** What the last look at the audit trail found, in words. */
  readonly trailProblem: string | null;
  readonly instances: readonly Instance[];
}

const BESIDE = ['', '-wal', '-shm', '.lock', '.head'];

/** Null for PostgreSQL and for a database in memory, which have no file of ours. */
export function fileFacts(url: string): FileFacts | null {
  if (!url.startsWith('file:') || url === 'file::memory:') return null;
  const path = resolve(sqlitePath(url));
  const own = statOf(path);
  const folder = dirname(path);
  const ownedByUs = own === null || process.getuid === undefined || own.uid === process.getuid();
  const loose = BESIDE.map((end) => `${path}${end}`).filter(
    (file) => ((statOf(file)?.mode ?? 0) & 0o077) !== 0,
  );
  return {
    path,
    exists: own !== null,
    folder,
    folderIsWritable: isWritable(folder),
    readableByOthers: process.platform === 'win32' ? [] : loose,
    ownedByUs,
    // Another user's lock may not even be opened, and is none of our business.
    running: own !== null && ownedByUs && isLocked(path),
  };
}

/** Reads what there is to know, beside a running bot: nothing is created or brought up to date. */
export async function inspectDatabase(
  url: string,
  key: Buffer | null,
): Promise<DatabaseInspection> {
  return withDb(url, 'read', async (db) => {
    const known = SCHEMA_VERSION;
    const schema = await schemaVersion(db);
    const server = onPostgres(db);
    const usable = schema > 0 && schema <= known;
    return {
      schema,
      known,
      durability: server ? await readDurability(db) : null,
      clock: server ? await clockOf(db) : null,
      mayCreateTables: server ? await mayCreate(db) : true,
      keyProblem: usable ? await keyProblem(db, key) : null,
      trailProblem: usable ? await storedTrailError(db) : null,
      instances: usable ? await listInstances(db) : [],
    };
  });
}

/** Writes a line and takes it back; throws where that is refused. For a schema that we know. */
export async function checkWritable(url: string): Promise<void> {
  const takenBack = new Error('taken back');
  await withDb(url, 'write', async (db) => {
    await runTransaction(db, async (tx) => {
      await writeMeta(tx, 'doctor', 'was here');
      throw takenBack;
    }).catch((error: unknown) => {
      if (error !== takenBack) throw error;
    });
  });
}

async function withDb<T>(
  url: string,
  purpose: 'read' | 'write',
  work: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  const file = purpose === 'read' ? openSqliteReader : openSqlite;
  const dialect = url.startsWith('file:')
    ? file(sqlitePath(url))
    : openPostgres(url, { onError: () => undefined });
  const db = new Kysely<Tables>({ dialect });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

async function clockOf(db: Db): Promise<DatabaseInspection['clock']> {
  const asked = Date.now();
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const [row] = rows;
  return row ? { server: row.now, here: (asked + Date.now()) / 2 } : null;
}

async function mayCreate(db: Db): Promise<boolean> {
  const { rows } = await sql<{ may: boolean | null }>`
    select has_schema_privilege(current_schema(), 'create') as may`.execute(db);
  return rows[0]?.may === true;
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    // Whatever the reason, a file cannot be made there; the fix names the folder.
    if (error instanceof Error) return false;
    throw error;
  }
}
