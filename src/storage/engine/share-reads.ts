import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db } from '../tables/schema.ts';
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
