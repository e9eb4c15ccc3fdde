import { type Dialect, Kysely, sql } from 'kysely';
import { type Checkpoint, openCheckpoint } from '../audit/checkpoint.ts';
import { migrate } from '../migrations/migrate.ts';
import { writeMeta } from '../tables/meta.ts';
import type { Db, Tables, Tx } from '../tables/schema.ts';
import { withAnswerLimit } from './database-errors.ts';
import { openPostgres, readDurability, refuseLossy } from './postgres.ts';
import { lockProcess } from './process-lock.ts';
import { openSqlite, sqlitePath } from './sqlite.ts';
import { outsideTransactions, refuseInside, runTransaction } from './transaction.ts';

export type { Db, Tables, Tx } from '../tables/schema.ts';

export interface Database {
  readonly engine: 'sqlite' | 'postgres';
  /** For reads outside a transaction; it throws when it is used inside one. */
  readonly db: Db;
  /**
   * The body may run several times, so it does nothing but read and write `tx`; what it throws
   * rolls back and reaches the caller. After five seconds it is rolled back whatever it waits for.
   */
  transaction<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /** The clock that leases are compared with: one for all replicas. Not inside a transaction. */
  now(): Promise<Date>;
  /** Throws when the database cannot be written, and soon: whoever asks does not wait for long. */
  check(): Promise<void>;
  /** A file of its own beside an SQLite database; null where there is no such place. */
  readonly checkpoint: Checkpoint | null;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The clock of the SQLite engine, which has one process and therefore one clock. */
  readonly now?: () => Date;
  /** Told about connections that PostgreSQL ended; the pool has replaced them already. */
  readonly onConnectionError?: (error: Error) => void;
}

/** `file:./signalbox.db`, `file::memory:` or `postgres://…`; its schema is up to date after it. */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  if (url.startsWith('file:')) return openFile(sqlitePath(url), options);
  if (/^postgres(ql)?:\/\//.test(url)) return openServer(url, options);
  throw new Error('DATABASE_URL must begin with file: or postgres://');
}

async function openFile(path: string, options: DatabaseOptions): Promise<Database> {
  const unlock = path === ':memory:' ? () => undefined : lockProcess(path);
  const now = options.now ?? (() => new Date());
  try {
    const root = await prepare(openSqlite(path));
    const checkpoint = path === ':memory:' ? null : openCheckpoint(path);
    return assemble('sqlite', root, { clock: async () => now(), unlock, checkpoint });
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openServer(url: string, options: DatabaseOptions): Promise<Database> {
  const onError = options.onConnectionError ?? ((error) => process.emitWarning(error));
  // A replica may wait for long while another one migrates; after that nobody waits for so long.
  const patient = openPostgres(url, { onError, silenceMs: null });
  const first = await prepare(patient, async (db) => refuseLossy(await readDurability(db)));
  await first.destroy();
  const root = new Kysely<Tables>({ dialect: openPostgres(url, { onError }) });
  return assemble('postgres', root, {
    clock: serverClock,
    unlock: () => undefined,
    checkpoint: null,
  });
}

async function prepare(
  dialect: Dialect,
  inspect: (db: Db) => Promise<void> = async () => undefined,
): Promise<Kysely<Tables>> {
  const root = new Kysely<Tables>({ dialect });
  try {
    await inspect(root);
    await migrate(root);
    return root;
  } catch (error) {
    await root.destroy();
    throw error;
  }
}

const PROBE = 'last-probe';

interface Surroundings {
  readonly clock: (db: Db) => Promise<Date>;
  readonly unlock: () => void;
  readonly checkpoint: Checkpoint | null;
}

function assemble(
  engine: Database['engine'],
  root: Kysely<Tables>,
  { clock, unlock, checkpoint }: Surroundings,
): Database {
  const db = outsideTransactions(root);
  return {
    engine,
    db,
    checkpoint,
    transaction: (body) => runTransaction(root, body),
    async now() {
      refuseInside();
      return clock(db);
    },
    async check() {
      // A full disk can still be read: only a commit of something new shows it.
      const probe = new Date().toISOString();
      await withAnswerLimit(runTransaction(root, (tx) => writeMeta(tx, PROBE, probe)));
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
  if (!row) throw new Error('PostgreSQL did not tell the time');
  return row.now;
}
