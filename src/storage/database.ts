import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { CompiledQuery, type Dialect, Kysely, sql, type Transaction } from 'kysely';
import { explainSqliteError, UnusableDatabase } from './errors.ts';
import { type PoolOptions, postgresDialect, refuseLossyServer } from './postgres.ts';
import { type Engine, grantUse, migrateStore, readSchema } from './schema.ts';
import {
  immutableName,
  isBusy,
  isRestoreInterrupted,
  lockProcess,
  openSqlite,
  openSqliteReader,
  sqlitePath,
} from './sqlite.ts';
import type { Tables } from './tables.ts';

/** What a body reads with: one connection outside a transaction, or a transaction. */
export type StoreReader = Kysely<Tables>;
export type StoreTx = Transaction<Tables>;

type Body<T, Access = StoreTx> = (tx: Access) => Promise<T>;

/** An open database. The functions of this file take it; nothing else looks inside. */
export interface Store {
  readonly engine: Engine;
  readonly root: Kysely<Tables>;
  /** Runs one transaction. It resolves only after the database has answered the commit. */
  readonly commit: <T>(body: Body<T>) => Promise<T>;
  /** The clock of the database, in milliseconds since 1970. */
  readonly clock: (reader: StoreReader) => Promise<number>;
  /** The timeline of PostgreSQL, which the promotion of a standby changes; null on SQLite. */
  readonly timeline: () => Promise<number | null>;
  /** How many connections the server has ended: another server may stand behind the next one. */
  readonly lostConnections: () => number;
  /** Lets one caller of this process after the other into a transaction that takes the lock of the log. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

export interface StoreOptions extends Partial<PoolOptions> {
  /** Replaces the clock of the database: that of the machine for SQLite, that of the server for PostgreSQL. */
  readonly now?: () => number;
  /**
   * `beside`: a command next to a running bot, which takes no lock of the process and migrates nothing. `reader`: the
   * same, and SQLite refuses each write.
   */
  readonly as?: 'bot' | 'beside' | 'reader';
  /** A role of PostgreSQL that may use the tables afterwards. */
  readonly grantsTo?: string | undefined;
}

/** Opens `file:./signalbox.db`, `file::memory:` or `postgres://…`, and migrates its schema. */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  if (url.startsWith('file:')) return openFile(sqlitePath(url), options);
  if (/^postgres(ql)?:\/\//.test(url)) return openServer(url, options);
  throw new Error('DATABASE_URL must begin with file: or postgres://');
}

async function openFile(path: string, options: StoreOptions): Promise<Store> {
  const { now = Date.now, as = 'bot' } = options;
  const isAlone = as === 'bot' && path !== ':memory:';
  const unlock = isAlone ? await lockProcess(path) : () => undefined;
  try {
    if (isRestoreInterrupted(path)) {
      const fix = 'run signalbox restore again with the same file';
      throw new UnusableDatabase(`The restore of ${path} was interrupted`, fix);
    }
    const dialect = as === 'reader' ? openSqliteReader(path) : openSqlite(path);
    const root = new Kysely<Tables>({ dialect });
    const commit = groupCommits(root);
    if (as === 'bot') await opened(root, () => commit((tx) => migrateStore(tx, 'sqlite')));
    return {
      engine: 'sqlite',
      root,
      commit,
      clock: async () => Math.floor(now()),
      timeline: async () => null,
      lostConnections: () => 0,
      // One connection: its transactions come one after the other anyway, and share commits.
      inTurn: (work) => work(),
      close: async () => {
        await root.destroy();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw await explainSqliteError(path, error);
  }
}

async function openServer(url: string, options: StoreOptions): Promise<Store> {
  const onConnectionError = options.onConnectionError ?? ((error) => process.emitWarning(error));
  const { now } = options;
  let lost = 0;
  const countLost = (error: Error) => {
    lost += 1;
    onConnectionError(error);
  };
  const dialect: Dialect = postgresDialect(url, { ...options, onConnectionError: countLost });
  const root = new Kysely<Tables>({ dialect });
  const commit = <T>(body: Body<T>) =>
    root
      .transaction()
      .setIsolationLevel('read committed')
      .execute((tx) => endingInside(tx, body));
  await opened(root, async () => {
    await refuseLossyServer(root);
    if ((options.as ?? 'bot') !== 'bot') return;
    await commit(async (tx) => {
      await sql`select pg_advisory_xact_lock(${LOG_LOCK})`.execute(tx);
      await migrateStore(tx, 'postgres');
      if (options.grantsTo !== undefined) await grantUse(tx, options.grantsTo);
    });
  });
  return {
    engine: 'postgres',
    root,
    commit,
    clock: now ? async () => Math.floor(now()) : serverClock,
    timeline: async () => {
      const { rows } = await sql<{ id: number }>`
        select timeline_id as id from pg_control_checkpoint()`.execute(root);
      return rows[0]?.id ?? null;
    },
    lostConnections: () => lost,
    inTurn: oneAfterTheOther(),
    close: () => root.destroy(),
  };
}

/** Statements of a failed body may still wait for the connection: after the rollback, they would be committed. */
async function endingInside<T>(tx: StoreTx, body: Body<T>): Promise<T> {
  try {
    return await body(tx);
  } catch (error) {
    // It runs after all others, and fails in a failed transaction.
    await Promise.allSettled([sql`select 1`.execute(tx)]);
    throw error;
  }
}

async function opened(root: Kysely<Tables>, prepare: () => Promise<void>): Promise<void> {
  try {
    await prepare();
  } catch (error) {
    await root.destroy();
    throw error;
  }
}

async function serverClock(reader: StoreReader): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(reader);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not return its time');
  return row.now;
}

const inside = new AsyncLocalStorage<true>();

/**
 * Inside a transaction, a second one would wait forever for the single connection of SQLite, and silently be another
 * transaction on PostgreSQL.
 */
function refuseInside(): void {
  if (!inside.getStore()) return;
  throw new Error('The database was used inside a transaction: pass the transaction instead');
}

/** Runs the body in one transaction, once. An error of the body rolls back and rejects. */
export function transaction<T>(store: Store, body: Body<T>): Promise<T> {
  refuseInside();
  return store.commit((tx) => inside.run(true, () => body(tx)));
}

/** The number of the lock that every append to the log takes on PostgreSQL. */
const LOG_LOCK = 5107;

/**
 * A transaction that excludes every other one of this kind, in all processes. The lock is its first statement, so that
 * under READ COMMITTED all later ones see what the transaction before it committed. On SQLite, `begin immediate` is
 * the lock. The body must not wait for anything but the database.
 */
export async function lockedTransaction<T>(store: Store, body: Body<T>): Promise<T> {
  refuseInside();
  return store.inTurn(() =>
    transaction(store, async (tx) => {
      if (store.engine === 'postgres')
        await sql`select pg_advisory_xact_lock(${LOG_LOCK})`.execute(tx);
      return body(tx);
    }),
  );
}

/** Reads outside a transaction, on one connection. */
export function reading<T>(store: Store, body: Body<T, StoreReader>): Promise<T> {
  refuseInside();
  return inside.run(true, () => store.root.connection().execute(body));
}

/** Without it, writers of one process would hold all connections of its pool while they wait for the lock. */
function oneAfterTheOther(): Store['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

const MOST_MEMBERS = 50;
/** After this time, a group takes no further transaction. */
const TAKES_WITHIN_MS = 25;
const BUSY_LIMIT_MS = 1_000;

interface Member {
  /** Runs in a savepoint, and keeps the result. Rejects if the whole transaction is lost. */
  readonly run: (tx: StoreTx) => Promise<void>;
  /** Passes the result on, after the commit. */
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Commits transactions that wait for the one connection of SQLite together, because writing to the disk takes most of
 * a commit. Each has a savepoint: its error rolls back only itself. No result is known before the commit, and an error
 * of the commit rejects all.
 */
function groupCommits(root: Kysely<Tables>): Store['commit'] {
  const waiting: Member[] = [];
  let isRunning = false;

  const commitGroup = async (first: Member) => {
    const group = [first];
    const until = performance.now() + TAKES_WITHIN_MS;
    try {
      await whenFree(root, async (tx) => {
        for (const member of group) {
          await member.run(tx);
          if (group.length === MOST_MEMBERS || performance.now() > until) continue;
          const next = waiting.shift();
          if (next) group.push(next);
        }
      });
    } catch (error) {
      for (const member of group) member.fail(error);
      return;
    }
    for (const member of group) member.settle();
  };

  const commitAll = async () => {
    if (isRunning) return;
    isRunning = true;
    while (waiting.length > 0) {
      // What other callers begin in this turn shares the commit.
      await turn();
      const first = waiting.shift();
      if (first) await commitGroup(first);
    }
    isRunning = false;
  };

  return (body) =>
    new Promise((resolve, reject) => {
      waiting.push(memberOf(body, resolve, reject));
      void commitAll();
    });
}

/** A command next to the bot may hold the write lock for a moment. */
async function whenFree(root: Kysely<Tables>, body: Body<void>): Promise<void> {
  const until = performance.now() + BUSY_LIMIT_MS;
  let hasBegun = false;
  for (;;) {
    try {
      return await root.transaction().execute((tx) => {
        hasBegun = true;
        return body(tx);
      });
    } catch (error) {
      if (hasBegun || !isBusy(error) || performance.now() > until) throw error;
      await wait(10);
    }
  }
}

function memberOf<T>(
  body: Body<T>,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): Member {
  // The body belongs to the context of its caller, not to that of the group.
  const inContext = AsyncLocalStorage.snapshot();
  let settle: () => void = () => reject(new Error('The transaction did not run'));
  const run = async (tx: StoreTx) => {
    await tx.executeQuery(CompiledQuery.raw('savepoint member'));
    try {
      const value = await inContext(() => body(tx));
      settle = () => resolve(value);
    } catch (error) {
      settle = () => reject(error);
      await rollBack(tx, error);
    }
    await tx.executeQuery(CompiledQuery.raw('release member'));
  };
  return { run, settle: () => settle(), fail: reject };
}

/** On a full disk, for example, SQLite rolls back everything: then the first error is the one to report. */
async function rollBack(tx: StoreTx, error: unknown): Promise<void> {
  // Other statements of the body may still wait. SQLite runs each at once: after this turn none is left.
  await turn();
  try {
    await tx.executeQuery(CompiledQuery.raw('rollback to member'));
  } catch {
    throw error;
  }
}

/** Throws with the path where a file is not a database of Signalbox that this release can use. It creates no file. */
export async function refuseOtherFile(path: string): Promise<void> {
  try {
    const root = new Kysely<Tables>({ dialect: openSqliteReader(immutableName(path)) });
    try {
      if ((await readSchema(root, 'sqlite')) === 'empty') throw new Error('It has no log.');
    } finally {
      await root.destroy();
    }
  } catch (error) {
    if (error instanceof UnusableDatabase) throw error;
    throw new Error(backupProblem(path, error), { cause: error });
  }
}

const NOT_A_DATABASE = [11, 26];

function backupProblem(path: string, error: unknown): string {
  if (!(error instanceof Error)) return `The backup ${path} cannot be read: ${String(error)}`;
  if (!('errcode' in error)) return `${path} is not a backup of Signalbox. ${error.message}`;
  const code = Number(error.errcode) & 0xff;
  return NOT_A_DATABASE.includes(code)
    ? `${path} is not a Signalbox database, or it is damaged. Name a file that “signalbox backup” made`
    : `The backup ${path} cannot be read: ${error.message}. Check its owner and its mode`;
}
