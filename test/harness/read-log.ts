import { expect } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import type { JsonObject } from '../../src/base/text.ts';
import type { Change } from '../../src/domain/change.ts';
import { type Log, listChanges, openLog, readKeys } from '../../src/log/index.ts';
import { rowsFrom } from '../../src/log/log.ts';
import { verifyAll } from '../../src/log/upkeep.ts';
import { openStore, reading } from '../../src/storage/index.ts';
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

/** An event with the fields of its body. */
export interface ReadEvent {
  readonly seq: number;
  readonly stream: string;
  readonly type: string;
  readonly body: JsonObject;
}

/** All events of these types, oldest first. The whole log is verified before. */
export function eventsIn(databaseUrl: string, ...types: string[]): Promise<readonly ReadEvent[]> {
  return withLog(databaseUrl, async (log) => {
    expect(await verifyAll(log)).toMatchObject({ ok: true });
    const rows = await reading(log.store, (reader) => rowsFrom(reader, 1));
    const wanted = rows.filter(({ type }) => types.includes(type));
    return wanted.map(({ body, ...row }) => ({ ...row, body: JSON.parse(body ?? '{}') }));
  });
}
