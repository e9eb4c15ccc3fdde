// What a start, a restore or the doctor must know of a database; nothing here creates or migrates it.
import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  appendProblem,
  Damaged,
  KeyProblem,
  type LogKeys,
  openLog,
  recordedIds,
} from '../log/index.ts';
import {
  checkDiskSpace,
  explainSqliteError,
  folderProblem,
  UnusableDatabase,
} from '../storage/errors.ts';
import {
  listInstances,
  openStore,
  reading,
  readSchema,
  type SchemaState,
  type Store,
  standbyProblem,
} from '../storage/index.ts';
import { isLocked, isRestoreInterrupted, sqlitePath } from '../storage/sqlite.ts';
import { databaseFacts, lastBackup, proveWritable } from './store.ts';

/** The file of an SQLite database and the files next to it. */
export type FileFacts = NonNullable<ReturnType<typeof fileFacts>>;

const FILE_SUFFIXES = ['', '-wal', '-shm', '.lock', '.key'];

/** Returns null for PostgreSQL and for a database in memory. */
export function fileFacts(url: string) {
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
    /** False: the file does not exist yet, so that only the folder is checked. */
    exists: own !== null,
    /** The start is refused until `signalbox restore` runs again. */
    restoreInterrupted: isRestoreInterrupted(path),
    folder,
    folderIsWritable: isUsable(folder, constants.W_OK),
    /** Files that users other than the owner may read. */
    readableByOthers: process.platform === 'win32' ? [] : readable,
    ownedByUs,
    /** False where a start could not open the lock file, because it belongs to another user. */
    lockIsUsable,
    /** A process of Signalbox has it open; false for a file of another user, whose lock file cannot be opened. */
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
  } catch {
    // The reason does not matter: the fix names the file or folder.
    return false;
  }
}

export type DatabaseInspection = Awaited<ReturnType<typeof inspectDatabase>>;

/** Reads the facts for the doctor. Safe next to a running bot: it creates and migrates nothing. */
export async function inspectDatabase(url: string, keys: () => LogKeys) {
  return withStore(url, 'reader', async (store) => {
    const { engine } = store;
    const facts = await reading(store, async (reader) => ({
      ...(await databaseFacts(store, reader)),
      schema: await readSchema(reader, engine),
      /** Why a failover could lose commits, or null. */
      standby: engine === 'postgres' ? await standbyProblem(reader) : null,
    }));
    const isReadable = facts.schema === 'current';
    return {
      ...facts,
      /** Null where Signalbox has not used the database, or must migrate it first. */
      log: isReadable ? await logFinding(store, keys) : null,
      instances: isReadable ? await reading(store, listInstances) : [],
      /** Null if none is recorded. */
      backupAt: isReadable ? await reading(store, lastBackup) : null,
    };
  });
}

/** The whole log is followed: hashes of all events, and the signature of the last one. */
async function logFinding(store: Store, keys: () => LogKeys) {
  try {
    const problem = appendProblem(await openLog(store, keys(), { replacesKey: false }));
    if (problem) throw problem;
    return { ok: true as const };
  } catch (error) {
    const failed = (problem: string, hint: string) => ({ ok: false as const, problem, hint });
    if (error instanceof KeyProblem) return failed(error.message, error.hint);
    if (error instanceof Damaged) {
      const hint = 'run signalbox audit verify, then follow docs/operating.md';
      return failed(`nothing is executed. ${error.message}`, hint);
    }
    throw error;
  }
}

/** The ids of the channels that Signalbox has resolved by name; none where the file does not exist yet. */
export async function readChannelIds(
  url: string,
  keys: () => LogKeys,
): Promise<ReadonlyMap<string, string>> {
  if (fileFacts(url)?.exists === false) return new Map();
  return withStore(url, 'reader', async (store) =>
    recordedIds(await openLog(store, keys(), { replacesKey: false })),
  );
}

/** Throws where a start could not use the database. It creates and migrates nothing. */
export async function refuseUnusable(url: string): Promise<void> {
  const file = fileFacts(url);
  if (file ? !file.exists : url.startsWith('file:')) return;
  await withStore(url, 'reader', schemaIn);
}

/** Whether Signalbox has no table in the database yet. */
export async function isUnused(url: string): Promise<boolean> {
  return (await withStore(url, 'reader', schemaIn)) === 'empty';
}

function schemaIn(store: Store): Promise<SchemaState> {
  return reading(store, (reader) => readSchema(reader, store.engine));
}

/** Throws if a write is refused, or if the disk of an SQLite file is full. Needs a current schema. */
export async function checkWritable(url: string): Promise<void> {
  await withStore(url, 'beside', proveWritable);
  const file = fileFacts(url);
  if (!file) return;
  const problem = folderProblem(file.path);
  if (problem) throw problem;
  await checkDiskSpace(file.path);
}

/** Works in the database of a Signalbox that has run, next to it. Throws a sentence for any other database. */
export async function inUsed<T>(
  url: string,
  as: 'beside' | 'reader',
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const file = fileFacts(url);
  if (file ? !file.exists : url.startsWith('file:')) {
    throw new UnusableDatabase(`${file?.path ?? 'The database'} does not exist`, CHECK);
  }
  return withStore(url, as, async (store) => {
    const schema = await schemaIn(store);
    if (schema === 'empty')
      throw new UnusableDatabase('Signalbox has not used this database yet', CHECK);
    if (schema === 'behind')
      throw new UnusableDatabase('This database is of an earlier release', 'start Signalbox first');
    return work(store);
  });
}

const CHECK = 'check DATABASE_URL';

/** Closes the database after the work. Errors of an SQLite file say what is wrong with it. */
async function withStore<T>(
  url: string,
  as: 'beside' | 'reader',
  work: (store: Store) => Promise<T>,
): Promise<T> {
  let close: () => Promise<void> = async () => undefined;
  try {
    const store = await openStore(url, { as, onConnectionError: () => undefined });
    close = store.close;
    return await work(store);
  } catch (error) {
    const file = fileFacts(url);
    throw file ? await explainSqliteError(file.path, error) : error;
  } finally {
    await close();
  }
}
