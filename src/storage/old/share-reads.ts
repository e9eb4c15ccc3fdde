import { AsyncLocalStorage } from 'node:async_hooks';
import type { CompiledQuery } from 'kysely';
import type { Db } from './schema.ts';
import type { Statement } from './together.ts';
import { refuseInside } from './transaction.ts';

/** Several callers share a read, so that it belongs to the trace of none. */
const outside = AsyncLocalStorage.snapshot();

interface Batch<Key, Value> {
  readonly keys: Set<Key>;
  readonly values: Promise<ReadonlyMap<Key, Value>>;
}

/**
 * Returns a function that reads the value of one key outside transactions. Callers in one turn of the event loop
 * share a read, which begins after all of them asked. Its error rejects all. A key without a value gives
 * `undefined`.
 */
export function shareReads<Key extends string, Value>(
  read: (db: Db, keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>,
): (db: Db, key: Key) => Promise<Value | undefined> {
  const open = new WeakMap<object, Batch<Key, Value>>();

  function begin(db: Db, id: object): Batch<Key, Value> {
    const keys = new Set<Key>();
    const values = new Promise<ReadonlyMap<Key, Value>>((resolve, reject) => {
      outside(process.nextTick, () => {
        open.delete(id);
        read(db, [...keys]).then(resolve, reject);
      });
    });
    return { keys, values };
  }
  return async (db, key) => {
    refuseInside();
    // Every handle of a database has the same one.
    const id = db.getExecutor().adapter;
    const batch = open.get(id) ?? begin(db, id);
    open.set(id, batch);
    batch.keys.add(key);
    return (await batch.values).get(key);
  };
}

interface QueuedRead {
  readonly query: CompiledQuery;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

const waiting = new WeakMap<object, QueuedRead[]>();

/**
 * Runs a read. Those outside transactions that begin in one turn of the event loop use one connection, which gets
 * all of them at once. Each one has its own error. To be used for fast reads only: they answer in their order.
 */
export async function readInTurn<Row>(db: Db, { query }: Statement<Row>): Promise<Row[]> {
  if (db.isTransaction) return (await db.executeQuery(query)).rows;
  const { adapter } = db.getExecutor();
  const rows = await new Promise<unknown[]>((resolve, reject) => {
    const reads = waiting.get(adapter) ?? [];
    waiting.set(adapter, reads);
    if (reads.length === 0) outside(process.nextTick, () => void sendAll(db, adapter, reads));
    reads.push({ query, resolve, reject });
  });
  // The statement returns these rows, as its type says.
  return rows as Row[];
}

async function sendAll(db: Db, adapter: object, reads: readonly QueuedRead[]): Promise<void> {
  waiting.delete(adapter);
  try {
    await db.getExecutor().provideConnection((connection) =>
      Promise.all(
        reads.map(async ({ query, resolve, reject }) => {
          await connection.executeQuery(query).then(({ rows }) => resolve(rows), reject);
        }),
      ),
    );
  } catch (error) {
    // There was no connection. Other errors were reported to their callers.
    for (const { reject } of reads) reject(error);
  }
}
