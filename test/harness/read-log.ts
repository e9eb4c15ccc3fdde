import { onTestFinished } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import type { Change } from '../../src/domain/change.ts';
import { listChanges, type Log, openLog, readKeys } from '../../src/log/index.ts';
import { openStore } from '../../src/storage/index.ts';

const MANY = 100_000;

/** Opens the log beside a running bot, as a command does. Without a key, that of the file beside SQLite. */
export async function readLog(databaseUrl: string, key: string | null = null): Promise<Log> {
  const store = await openStore(databaseUrl, { as: 'beside' });
  onTestFinished(() => store.close());
  const keys = readKeys({ databaseUrl, key: key === null ? null : new Secret(key), previous: [] });
  return openLog(store, keys, { replacesKey: false });
}

/** All changes of the log, the newest first. */
export async function changesIn(databaseUrl: string, key?: string): Promise<readonly Change[]> {
  return listChanges(await readLog(databaseUrl, key ?? null), { limit: MANY });
}
