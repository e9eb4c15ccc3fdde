import { type Dialect, Kysely, sql } from 'kysely';
import { explainSqliteError, UnusableDatabase, withAnswerLimit } from '../errors.ts';
import { isRestoreInterrupted, lockProcess, openSqlite, sqlitePath } from '../sqlite.ts';
import { type Checkpoint, openCheckpoint } from './checkpoint.ts';
import { groupCommits } from './group-commit.ts';
import { writeMeta } from './meta.ts';
import { migrate, SCHEMA_VERSION } from './migrate.ts';
import { keepsStatements } from './named-statements.ts';
import { openPostgres, readDurability, refuseLossy } from './postgres.ts';
import type { Db, Tables, Tx } from './schema.ts';
import { runAlone, type Statement } from './together.ts';
import {
  type OpenTransaction,
  outsideTransactions,
  refuseInside,
  runTransaction,
  singleCommits,
  singleStatements,
} from './transaction.ts';

export type { Db, Tables, Tx } from './schema.ts';

export interface Database {
  readonly engine: 'sqlite' | 'postgres';
  /** Only one process can have it open, so that any other process that used it has ended. */
  readonly isExclusive: boolean;
  /** For reads outside a transaction; throws inside one. */
  readonly db: Db;
  /**
   * Runs the body in a transaction, which is retried on lock conflicts: the body must only use `tx`.
   * An error of the body rolls back and rejects. A transaction is rolled back after 5 seconds.
   */
  transaction<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs one statement without a check as a transaction of its own. */
  run(statement: (tx: Tx) => Statement): Promise<void>;
  /** The clock for leases, which all replicas share. Throws inside a transaction. */
  now(): Promise<Date>;
  /** Throws within 3 seconds if the database cannot be written. */
  check(): Promise<void>;
  /** The file next to an SQLite database; null for PostgreSQL and in memory. */
  readonly checkpoint: Checkpoint | null;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The clock for SQLite, which has only one process. */
  readonly now?: () => Date;
  /** The most connections to PostgreSQL; 6 by default. */
  readonly poolSize?: number;
  /** Called for connections that PostgreSQL closed; the pool replaces them. */
  readonly onConnectionError?: (error: Error) => void;
  /** Called for each new connection to PostgreSQL. */
  readonly onConnected?: () => void;
  /** Called with the schema version where a newer release migrated the database. */
  readonly onNewerSchema?: (schema: number) => void;
}

/** Opens `file:./signalbox.db`, `file::memory:` or `postgres://…`, and migrates its schema. */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  if (url.startsWith('file:')) return openFile(sqlitePath(url), options);
  if (/^postgres(ql)?:\/\//.test(url)) return openServer(url, options);
  throw new Error('DATABASE_URL must begin with file: or postgres://');
}

// Migrating takes longer than all else, and tests open many databases in memory.
let migrated: Uint8Array | null = null;

async function openInMemory(options: DatabaseOptions): Promise<Kysely<Tables>> {
  const dialect = openSqlite(':memory:', migrated);
  const root = await prepare(dialect, options);
  migrated ??= dialect.content();
  return root;
}

async function openFile(path: string, options: DatabaseOptions): Promise<Database> {
  const unlock = path === ':memory:' ? () => undefined : await lockProcess(path);
  const now = options.now ?? (() => new Date());
  try {
    if (isRestoreInterrupted(path)) {
      const fix = 'run signalbox restore again with the same file';
      throw new UnusableDatabase(`The restore of ${path} was interrupted`, fix);
    }
    const isInMemory = path === ':memory:';
    const root = await (isInMemory ? openInMemory(options) : prepare(openSqlite(path), options));
    const checkpoint = isInMemory ? null : openCheckpoint(path);
    return assemble('sqlite', root, { clock: async () => now(), unlock, checkpoint });
  } catch (error) {
    unlock();
    throw await explainSqliteError(path, error);
  }
}

async function openServer(url: string, options: DatabaseOptions): Promise<Database> {
  const onError = options.onConnectionError ?? ((error) => process.emitWarning(error));
  // Without a limit: another replica may take long to migrate. The later connections have one.
  const migrating = openPostgres(url, { onError, idleTimeoutMs: null });
  const first = await prepare(migrating, options, async (db) =>
    refuseLossy(await readDurability(db)),
  );
  const namesStatements = await keepsStatements(first);
  await first.destroy();
  const { onConnected, poolSize } = options;
  const root = new Kysely<Tables>({
    dialect: openPostgres(url, { onError, onConnected, poolSize, namesStatements }),
  });
  return assemble('postgres', root, {
    clock: serverClock,
    unlock: () => undefined,
    checkpoint: null,
  });
}

async function prepare(
  dialect: Dialect,
  { onNewerSchema }: DatabaseOptions,
  inspect: (db: Db) => Promise<void> = async () => undefined,
): Promise<Kysely<Tables>> {
  const root = new Kysely<Tables>({ dialect });
  try {
    await inspect(root);
    const schema = await migrate(root);
    if (schema > SCHEMA_VERSION) onNewerSchema?.(schema);
    return root;
  } catch (error) {
    await root.destroy();
    throw error;
  }
}

const PROBE = 'last-probe';

interface EngineParts {
  readonly clock: (db: Db) => Promise<Date>;
  readonly unlock: () => void;
  readonly checkpoint: Checkpoint | null;
}

function assemble(
  engine: Database['engine'],
  root: Kysely<Tables>,
  { clock, unlock, checkpoint }: EngineParts,
): Database {
  const db = outsideTransactions(root);
  const open = engine === 'sqlite' ? groupCommits(root) : singleCommits(root);
  const openForOne = engine === 'sqlite' ? open : singleStatements(root);
  const within =
    (opened: OpenTransaction) =>
    <T>(body: (tx: Tx) => Promise<T>) =>
      runTransaction(opened, body);
  return {
    engine,
    isExclusive: engine === 'sqlite',
    db,
    checkpoint,
    transaction: within(open),
    run: (statement) => within(openForOne)(async (tx) => runAlone(tx, statement(tx))),
    async now() {
      refuseInside();
      return clock(db);
    },
    async check() {
      // Reads work on a full disk: only a commit shows the problem.
      const probe = new Date().toISOString();
      await withAnswerLimit(runTransaction(open, (tx) => writeMeta(tx, PROBE, probe)));
    },
    async close() {
      await root.destroy();
      unlock();
    },
  };
}

async function serverClock(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not return its time');
  return row.now;
}
