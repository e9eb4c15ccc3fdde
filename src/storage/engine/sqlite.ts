import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { CompiledQuery, SqliteDialect, type SqliteDialectConfig, SqliteDriver } from 'kysely';
import { boundValues } from './parameters.ts';

// Waiting for a lock inside SQLite stops the event loop; the rest of the wait is asynchronous.
const BLOCKING_WAIT_MS = 50;
const READER_WAIT_MS = 5_000;

class ImmediateDriver extends SqliteDriver {
  readonly #isOpen: () => boolean;

  constructor(config: SqliteDialectConfig, isOpen: () => boolean) {
    super(config);
    this.#isOpen = isOpen;
  }

  // A deferred transaction that reads and then writes fails at once when another has written.
  override async beginTransaction(connection: Parameters<SqliteDriver['beginTransaction']>[0]) {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  // On a full disk and the like SQLite has rolled back by itself, and a second time is an error,
  // which would stand in the place of the one that tells what happened.
  override async rollbackTransaction(
    connection: Parameters<SqliteDriver['rollbackTransaction']>[0],
  ) {
    if (this.#isOpen()) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
}

// It extends the dialect for the adapter, which tells Kysely to let one transaction at a time on
// the one connection.
class NodeSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    const config = { database: guarded(db) };
    super(config);
    this.#config = config;
    this.#db = db;
  }

  override createDriver() {
    return new ImmediateDriver(this.#config, () => this.#db.isTransaction);
  }
}

export function sqlitePath(url: string): string {
  const path = url.startsWith('file:/') ? fileURLToPath(url) : url.slice('file:'.length);
  if (path === '') throw new Error('DATABASE_URL names no file: write file:./signalbox.db');
  return path;
}

export function openSqlite(path: string): NodeSqliteDialect {
  if (path !== ':memory:') {
    createPrivately(path);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) narrow(file);
  }
  const db = new DatabaseSync(path, { timeout: BLOCKING_WAIT_MS });
  try {
    configure(db, path);
  } catch (error) {
    db.close();
    throw error;
  }
  return new NodeSqliteDialect(db);
}

/** For a process beside the one that writes: it takes no lock that anybody would wait for. */
export function openSqliteReader(path: string): NodeSqliteDialect {
  const db = new DatabaseSync(path, { readOnly: true, timeout: READER_WAIT_MS });
  return new NodeSqliteDialect(db);
}

/**
 * Makes the file readable for its owner only; SQLite gives its journals the same mode. A file that
 * exists is not even opened: closing it again would drop the locks that this process holds on it.
 */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw new Error(`The database file ${path} cannot be created`, { cause: error });
    }
  }
}

/** A file that was copied into its place often came with rights for everyone on the machine. */
function narrow(file: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(file, 0o600);
  } catch (error) {
    const sentence = `Others on this machine can read ${file}, and that cannot be changed`;
    throw new Error(`${sentence}: let it belong to the user who runs Signalbox`, { cause: error });
  }
}

function configure(db: DatabaseSync, path: string): void {
  const mode = db.prepare('pragma journal_mode = wal').get()?.journal_mode;
  if (mode !== 'wal' && path !== ':memory:') {
    throw new Error(`${path} cannot keep a write-ahead log there: use a local disk`);
  }
  db.exec('pragma synchronous = full; pragma foreign_keys = on; pragma trusted_schema = off');
}

function guarded(db: DatabaseSync): SqliteDialectConfig['database'] & object {
  return {
    close: () => db.close(),
    prepare(sql: string) {
      const statement = db.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (values: readonly unknown[]) => statement.all(...boundValues(sql, values)),
        run: (values: readonly unknown[]) => statement.run(...boundValues(sql, values)),
        iterate: (values: readonly unknown[]) => statement.iterate(...boundValues(sql, values)),
      };
    },
  };
}
