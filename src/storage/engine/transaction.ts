import { AsyncLocalStorage } from 'node:async_hooks';
import { type Kysely, type KyselyPlugin, sql } from 'kysely';
import { withTimeout } from '../../with-timeout.ts';
import type { Tables, Tx } from '../tables/schema.ts';
import { databaseTimeout } from './database-errors.ts';

const LIMIT_MS = 5_000;
const BUSY_BUDGET_MS = 2_000;
const SERIALIZATION_TRIES = 5;

interface Scope {
  over: boolean;
  started: number;
  ended: number;
}

const inside = new AsyncLocalStorage<Scope>();

/**
 * The body may run several times, so it does nothing but read and write `tx`; what it throws rolls
 * back and reaches the caller. A body that takes longer than five seconds is rolled back.
 */
export async function runTransaction<T>(
  root: Kysely<Tables>,
  body: (tx: Tx) => Promise<T>,
): Promise<T> {
  refuseInside();
  const began = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(root, body);
    } catch (error) {
      if (!isWorthRetrying(error, tries, performance.now() - began)) throw error;
      await pause(Math.min(10 * 2 ** tries, 200));
    }
  }
}

/**
 * The same database for use outside transactions only. Inside one it would wait for ever for the
 * single connection of SQLite, and leave the transaction without a word on PostgreSQL.
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
  if (inside.getStore()?.over !== false) return;
  throw new Error('The root database was used inside a transaction: hand on the transaction');
}

function refuseOwn(): never {
  throw new Error('Transactions are opened by Database.transaction, which retries and limits them');
}

async function attempt<T>(root: Kysely<Tables>, body: (tx: Tx) => Promise<T>): Promise<T> {
  const scope = { over: false, started: 0, ended: 0 };
  return root
    .transaction()
    .setIsolationLevel('read committed')
    .execute((tx) => inside.run(scope, () => contain(tx, scope, body)));
}

/**
 * Statements that a body left behind, because it failed beside them or ran out of time, still wait
 * for the connection. They must be through before the rollback: after it they would commit.
 */
async function contain<T>(tx: Tx, scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await withTimeout(LIMIT_MS, body(tx.withPlugin(tether(scope))), tooLong);
  } finally {
    scope.over = true;
    // One more in the same line. In a failed transaction it fails, and that tells the same.
    if (scope.started > scope.ended) await Promise.allSettled([sql`select 1`.execute(tx)]);
  }
}

function tether(scope: Scope): KyselyPlugin {
  return {
    transformQuery({ node }) {
      if (scope.over) throw new Error('The transaction is over');
      scope.started += 1;
      return node;
    },
    async transformResult({ result }) {
      scope.ended += 1;
      return result;
    },
  };
}

function tooLong(): Error {
  return databaseTimeout(`A transaction took longer than ${LIMIT_MS / 1000} s and was rolled back`);
}

function isWorthRetrying(error: unknown, tries: number, elapsedMs: number): boolean {
  if (!(error instanceof Error)) return false;
  if (isBusy(error)) return elapsedMs < BUSY_BUDGET_MS;
  return isSerializationFailure(error) && tries < SERIALIZATION_TRIES;
}

// The low byte is the error itself, the rest tells which kind of busy it was.
function isBusy(error: Error): boolean {
  return 'errcode' in error && typeof error.errcode === 'number' && (error.errcode & 0xff) === 5;
}

function isSerializationFailure(error: Error): boolean {
  return 'code' in error && (error.code === '40001' || error.code === '40P01');
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}
