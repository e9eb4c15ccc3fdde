import type { Database } from '../storage/engine/database.ts';
import { isTracing, step } from './trace.ts';

/** Traces every transaction as a child span, including its wait for a connection. */
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
