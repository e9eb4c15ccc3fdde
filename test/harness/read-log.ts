import { Secret } from '../../src/base/errors.ts';
import type { Change } from '../../src/domain/change.ts';
import { type Log, listChanges, openLog, readKeys } from '../../src/log/index.ts';
import { openStore } from '../../src/storage/index.ts';
import { AUDIT_KEY } from './simulators.ts';

const MANY = 100_000;

/** Opens the log beside a running bot, as a command does, and closes it after the work. */
export async function withLog<T>(databaseUrl: string, work: (log: Log) => Promise<T>): Promise<T> {
  const store = await openStore(databaseUrl, { as: 'beside' });
  try {
    const key = new Secret(AUDIT_KEY.toString('base64'));
    const keys = readKeys({ databaseUrl, key, previous: [] });
    return await work(await openLog(store, keys, { replacesKey: false }));
  } finally {
    await store.close();
  }
}

/** All changes of the log, the newest first. */
export function changesIn(databaseUrl: string): Promise<readonly Change[]> {
  return withLog(databaseUrl, (log) => listChanges(log, { limit: MANY }));
}
