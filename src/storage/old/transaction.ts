import { AsyncLocalStorage } from 'node:async_hooks';
import { type Kysely, type KyselyPlugin, sql } from 'kysely';
import { withTimeout } from '../../base/errors.ts';
import { databaseTimeout } from '../errors.ts';
import { NAME_ERRORS } from './named-statements.ts';
import type { Tables, Tx } from './schema.ts';

const LIMIT_MS = 5_000;
const BUSY_BUDGET_MS = 2_000;
const SERIALIZATION_TRIES = 5;

interface Scope {
  ended: boolean;
  started: number;
  finished: number;
  /** The statements for which only the commit waits. */
  readonly last: Promise<unknown>[];
  lastPending: number;
}

const inside = new AsyncLocalStorage<Scope>();

/** Runs the body in one transaction, once. */
export type OpenTransaction = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;

/** Each transaction has a commit of its own. */
export function singleCommits(root: Kysely<Tables>): OpenTransaction {
  return (body) => root.transaction().setIsolationLevel('read committed').execute(body);
}

/**
 * For bodies of one statement, which PostgreSQL commits by itself: two statements and a wait less. One that is
 * too slow is reported as failed, and may still be committed.
 */
export function singleStatements(root: Kysely<Tables>): OpenTransaction {
  // The body uses no other method of a transaction.
  return (body) => body(root as unknown as Tx);
}

/**
 * Runs the body in a transaction and retries it on lock conflicts: the body must only use `tx`. An
 * error of the body rolls back and rejects. A body that takes over 5 seconds is rolled back.
 */
export async function runTransaction<T>(
  open: OpenTransaction,
  body: (tx: Tx) => Promise<T>,
): Promise<T> {
  refuseInside();
  const started = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(open, body);
    } catch (error) {
      if (!isWorthRetrying(error, tries, performance.now() - started)) throw error;
      await pause(Math.min(10 * 2 ** tries, 200));
    }
  }
}

/**
 * The same database, for use outside transactions only. Inside a transaction it would wait forever
 * for the single connection of SQLite, and silently leave the transaction on PostgreSQL.
 */
export function outsideTransactions(root: Kysely<Tables>): Kysely<Tables> {
  const db = root.withPlugin({
    transformQuery({ node }) {
      refuseInside();
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return Object.assign(db, {
    transaction: refuseOwn,
    startTransaction: refuseOwn,
    connection: refuseOwn,
  });
}

export function refuseInside(): void {
  if (inside.getStore()?.ended !== false) return;
  throw new Error('The root database was used inside a transaction: pass the transaction instead');
}

function refuseOwn(): never {
  throw new Error('Use Database.transaction, which retries and limits transactions');
}

/**
 * Lets the commit follow the last statements of a transaction without a wait in between. To be used on
 * PostgreSQL only, where the error of a statement makes the commit fail. The transaction rejects with that
 * error. `count`: of how many statements `last` is the end.
 */
export async function commitAfter(last: Promise<unknown>, count = 1): Promise<void> {
  const scope = inside.getStore();
  // Without `runTransaction`, nothing would report its error. After other last statements that still run, the
  // driver would send the commit first.
  if (!scope || scope.lastPending > 0) {
    await last;
    return;
  }
  scope.last.push(last);
  scope.lastPending += count;
  const end = () => {
    scope.lastPending -= count;
  };
  last.then(end, end);
}

async function attempt<T>(open: OpenTransaction, body: (tx: Tx) => Promise<T>): Promise<T> {
  const scope: Scope = { ended: false, started: 0, finished: 0, last: [], lastPending: 0 };
  try {
    const result = await open((tx) => inside.run(scope, () => runBody(tx, scope, body)));
    await Promise.all(scope.last);
    return result;
  } catch (error) {
    // The first error of a transaction is the one to report: it makes all later statements fail.
    await Promise.all(scope.last);
    throw error;
  }
}

/**
 * A body that failed or ran out of time can leave statements that still wait for the connection.
 * They must end before the rollback: after it, they would be committed.
 */
async function runBody<T>(tx: Tx, scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await withTimeout(LIMIT_MS, body(tx.withPlugin(trackQueries(scope))), tooLong);
  } finally {
    scope.ended = true;
    // A last statement runs after all others. In a failed transaction it fails, which is fine.
    if (scope.started > scope.finished + scope.lastPending)
      await Promise.allSettled([sql`select 1`.execute(tx)]);
  }
}

function trackQueries(scope: Scope): KyselyPlugin {
  return {
    transformQuery({ node }) {
      if (scope.ended) throw new Error('The transaction has ended');
      scope.started += 1;
      return node;
    },
    async transformResult({ result }) {
      scope.finished += 1;
      return result;
    },
  };
}

function tooLong(): Error {
  return databaseTimeout(`A transaction took longer than ${LIMIT_MS / 1000} s`);
}

function isWorthRetrying(error: unknown, tries: number, elapsedMs: number): boolean {
  if (!(error instanceof Error)) return false;
  if (isBusy(error)) return elapsedMs < BUSY_BUDGET_MS;
  return isRetryable(error) && tries < SERIALIZATION_TRIES;
}

// The low byte is the result code; the other bytes are its details.
function isBusy(error: Error): boolean {
  return 'errcode' in error && typeof error.errcode === 'number' && (error.errcode & 0xff) === 5;
}

/** A serialization failure, a deadlock, or an error of the name of a statement. */
const RETRYABLE = ['40001', '40P01', ...NAME_ERRORS];

function isRetryable(error: Error): boolean {
  return 'code' in error && RETRYABLE.includes(String(error.code));
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}
