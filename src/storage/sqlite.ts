import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  CompiledQuery,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';
import { cached } from '../base/cache.ts';
import {
  explainSqliteError,
  hasNoSpace,
  readOnlyProblem,
  refuseFolder,
  UnusableDatabase,
} from './errors.ts';

/**
 * Returns a function that returns the values to bind to this statement, or throws. `node:sqlite` silently takes
 * a leading Date or object for named parameters and shifts the rest, and binds a missing value as NULL.
 */
export function parameterBinder(sql: string): (parameters: readonly unknown[]) => SQLInputValue[] {
  const expected = placeholders(sql);
  return (parameters) => {
    const { length } = parameters;
    if (length === expected) return parameters.map(boundValue);
    throw new TypeError(`The statement has ${expected} parameters but ${length} values`);
  };
}

function boundValue(value: unknown, index: number): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Uint8Array) return value;
  const kind = typeof value === 'object' ? Object.prototype.toString.call(value) : typeof value;
  throw new TypeError(`Parameter ${index + 1} is ${kind}, which has no column type`);
}

const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g;

// The driver does not report how many values a statement needs, so they are counted in its text.
function placeholders(sql: string): number {
  const bare = sql.replaceAll(QUOTED, '');
  if (/\?\d|[:@$]\w/.test(bare))
    throw new TypeError('Named and numbered parameters are not supported');
  return bare.split('?').length - 1;
}

// Waiting inside SQLite blocks the event loop, so that longer waits are asynchronous retries.
const BLOCKING_WAIT_MS = 50;
const READER_WAIT_MS = 5_000;

class ImmediateDriver extends SqliteDriver {
  readonly #isOpen: () => boolean;

  constructor(config: SqliteDialectConfig, isOpen: () => boolean) {
    super(config);
    this.#isOpen = isOpen;
  }

  // A deferred transaction that reads and then writes fails if another one wrote in between.
  override async beginTransaction(connection: Parameters<SqliteDriver['beginTransaction']>[0]) {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  // On a full disk, for example, SQLite rolls back by itself. A second rollback is an error, which
  // would hide the original one.
  override async rollbackTransaction(
    connection: Parameters<SqliteDriver['rollbackTransaction']>[0],
  ) {
    if (this.#isOpen()) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
}

// Extends the dialect of Kysely for its adapter, which allows one transaction at a time on the one
// connection.
class NodeSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    const config = { database: withCheckedParameters(db) };
    super(config);
    this.#config = config;
    this.#db = db;
  }

  override createDriver() {
    return new ImmediateDriver(this.#config, () => this.#db.isTransaction);
  }

  /** The whole database, with which another one in memory can begin. */
  content(): Uint8Array {
    return this.#db.serialize();
  }
}

export function sqlitePath(url: string): string {
  const path = url.startsWith('file:/') ? fileURLToPath(url) : url.slice('file:'.length);
  if (path === '') throw new Error('DATABASE_URL names no file: set it to file:./signalbox.db');
  return path;
}

/** The copy of a restore until it takes the place of the database. */
export function incomingPath(path: string): string {
  return `${path}.incoming`;
}

/** A crash between the two renames of a restore leaves no database under its name: a start would create an empty one. */
export function isRestoreInterrupted(path: string): boolean {
  return !existsSync(path) && existsSync(incomingPath(path));
}

/** A database in memory may begin with the content of another one. */
export function openSqlite(path: string, content: Uint8Array | null = null): NodeSqliteDialect {
  if (path !== ':memory:') {
    createPrivately(path);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) restrictToOwner(file);
  }
  const db = new DatabaseSync(path, { timeout: BLOCKING_WAIT_MS });
  try {
    if (content) db.deserialize(content);
    configure(db, path);
  } catch (error) {
    db.close();
    throw error;
  }
  return new NodeSqliteDialect(db);
}

/** For a process next to the one that writes: it takes no lock for which the other would wait. */
export function openSqliteReader(path: string): NodeSqliteDialect {
  const db = new DatabaseSync(path, { readOnly: true, timeout: READER_WAIT_MS });
  return new NodeSqliteDialect(db);
}

/**
 * The name under which SQLite opens a file that no process writes, and creates nothing next to it. A write-ahead log
 * has commits that SQLite would ignore then: with one, this is the path.
 */
export function immutableName(path: string): string {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0) return path;
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return url.href;
}

/**
 * For commands that an operator runs as root: Signalbox runs as the owner of the folder, and could not open a
 * lock file of root.
 */
export function giveToFolderOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  chownSync(path, uid, gid);
}

/** The folder is missing, belongs to another user, is a file, or is mounted read-only. */
const NEEDS_PERSON = ['ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'EROFS'];

/**
 * Creates a file that only its owner can read; SQLite gives its journals the same mode. An existing
 * file is not opened, because closing it would drop the locks that this process holds on it.
 */
export function createPrivately(path: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    giveToFolderOwner(path);
    closeSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (code === 'EEXIST') return;
    // For example a full disk, which passes.
    if (!NEEDS_PERSON.includes(code)) throw error;
    const fix = `create ${dirname(path)} and give the user of Signalbox write permission`;
    const problem = `The file ${path} cannot be created (${code})`;
    throw readOnlyProblem(path, error) ?? new UnusableDatabase(problem, fix);
  }
}

/** Writes a new file that only its owner can read. It appears under its name only when it is complete. */
export function writePrivately(path: string, text: string): void {
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  createPrivately(partial);
  writeFileSync(partial, text, { flush: true });
  renameSync(partial, path);
}

/** A copied file often has read permission for every user of the machine. */
export function restrictToOwner(file: string): void {
  refuseFolder(file);
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(file, 0o600);
  } catch (error) {
    const problem = `Other users of this machine can read ${file}, and its mode cannot be changed`;
    const fix = 'make the user of Signalbox its owner';
    throw readOnlyProblem(file, error) ?? new UnusableDatabase(problem, fix);
  }
}

function configure(db: DatabaseSync, path: string): void {
  const mode = db.prepare('pragma journal_mode = wal').get()?.journal_mode;
  if (mode !== 'wal' && path !== ':memory:') {
    throw new UnusableDatabase(`${path} does not support a write-ahead log`, 'use a local disk');
  }
  db.exec('pragma synchronous = full; pragma foreign_keys = on; pragma trusted_schema = off');
}

/** Lists of values make statements of their own. */
const STATEMENTS_MAX = 100;

function withCheckedParameters(db: DatabaseSync): SqliteDatabase {
  // To prepare a statement takes longer than to run it.
  const prepare = cached(STATEMENTS_MAX, (sql: string) => checkedStatement(db, sql));
  return { close: () => db.close(), prepare };
}

function checkedStatement(db: DatabaseSync, sql: string): SqliteStatement {
  const statement = db.prepare(sql);
  const bound = parameterBinder(sql);
  return {
    reader: statement.columns().length > 0,
    all: (values) => statement.all(...bound(values)),
    run: (values) => statement.run(...bound(values)),
    iterate: (values) => statement.iterate(...bound(values)),
  };
}

const MAX_PAGES = 2 ** 31 - 1;
/** SQLITE_FULL, and SQLITE_IOERR_WRITE: the source is only read, so that both are about the copy. */
const FULL = [13, 778];

/**
 * Copies an SQLite database to a new file that only its owner can read, also while another process writes.
 * The copy has every commit from before the call. It appears under its name only when it is complete.
 */
export async function copySqlite(from: string, to: string): Promise<void> {
  refuseExisting(to);
  const partial = `${to}.partial`;
  removeCopy(partial);
  const source = new DatabaseSync(from, { readOnly: true });
  try {
    createPrivately(partial);
    // All pages in one step: with smaller steps each commit of the other process begins the copy again.
    await backup(source, partial, { rate: MAX_PAGES });
    refuseDamaged(partial);
    renameSync(partial, to);
  } catch (error) {
    throw isFull(error) ? new Error(`The disk of ${to} is full: free some space`) : error;
  } finally {
    source.close();
    removeCopy(partial);
  }
}

export function refuseExisting(path: string): void {
  refuseFolder(path);
  if (existsSync(path)) throw new Error(`${path} exists already: name a new file`);
}

/** A journal that stays would be applied to the next copy with this name. */
function removeCopy(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal'])
    rmSync(`${path}${suffix}`, { force: true });
}

function isFull(error: unknown): boolean {
  if (error instanceof Error && 'errcode' in error) return FULL.includes(Number(error.errcode));
  return hasNoSpace(error);
}

function refuseDamaged(path: string): void {
  const copy = new DatabaseSync(immutableName(path), { readOnly: true });
  try {
    const [row] = copy.prepare('pragma integrity_check(1)').all();
    if (row?.integrity_check !== 'ok') {
      throw new Error(`The copy is damaged (${String(row?.integrity_check)}): it was deleted`);
    }
  } finally {
    copy.close();
  }
}

const BUSY = 5;

/**
 * Returns the function that unlocks. The lock also ends when the process ends or crashes. Two
 * processes on one SQLite file would block each other and both assume that they own every lease.
 */
export async function lockProcess(path: string): Promise<() => void> {
  const lockPath = `${path}.lock`;
  createPrivately(lockPath);
  const lock = openLock(lockPath);
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw await explainSqliteError(path, error);
    const fix = 'Stop it first; several replicas need PostgreSQL';
    throw new Error(`Another process uses ${path} (it holds ${lockPath}). ${fix}.`, {
      cause: error,
    });
  }
  return () => lock.close();
}

function openLock(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch {
    throw new UnusableDatabase(`${path} cannot be opened`, 'make the user of Signalbox its owner');
  }
}

/** Checks the lock without waiting, and holds it only for a moment, so that no start fails. */
export function isLocked(path: string): boolean {
  const lockPath = `${path}.lock`;
  if (!existsSync(lockPath)) return false;
  const lock = new DatabaseSync(lockPath, { readOnly: true, timeout: 0 });
  try {
    lock.exec('select count(*) from sqlite_master');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    lock.close();
  }
}

export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === BUSY;
}
