import type { Database } from '../storage/engine/database.ts';
import { isTracing, step } from './trace.ts';

/** Each transaction of something that is traced is a step of it, with the wait for its turn. */
export function withTracedTransactions(database: Database): Database {
  if (!isTracing()) return database;
  const system = database.engine === 'sqlite' ? 'sqlite' : 'postgresql';
  const work = {
    name: 'transaction',
    kind: 'client',
    facts: { 'db.system.name': system },
  } as const;
  return { ...database, transaction: (body) => step(work, () => database.transaction(body)) };
}
