import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import type { Tx } from '../../src/storage/old/database.ts';
import { readMeta, writeMeta } from '../../src/storage/old/meta.ts';
import { freshUrl, openForTest, run } from './engines.ts';
import { NOON } from './example-change.ts';

const event = { kind: 'refused', at: NOON, body: {} };

/** One connection of PostgreSQL that has prepared the statement that stores an event. */
async function prepared() {
  const url = await freshUrl('postgres');
  const { db, transaction } = await openForTest(url, { poolSize: 1 });
  for (let n = 0; n < 2; n += 1) await transaction((tx) => appendEvent(tx, null, event));
  const events = () => run(url, 'select count(*)::int as n from audit_event');
  return { db, transaction, events };
}

/** As if a pooler had given another connection to the server, right before the last statement. */
async function forget(tx: Tx): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from pg_prepared_statements where statement like '%with "event"%'`.execute(tx);
  for (const { name } of rows) await sql.raw(`deallocate "${name}"`).execute(tx);
  expect(rows.map(({ name }) => name)).toHaveLength(1);
}

/** The answers to the last statement and to the commit arrive together. */
function keepBusy(): void {
  setImmediate(() => {
    const end = performance.now() + 100;
    while (performance.now() < end);
  });
}

test('a last statement whose name is lost is repeated with its transaction, and not alone', async () => {
  const { db, transaction, events } = await prepared();
  let tries = 0;
  await transaction(async (tx) => {
    tries += 1;
    await writeMeta(tx, 'key', 'value');
    if (tries === 1) await forget(tx);
    await appendEvent(tx, null, event);
    keepBusy();
  });
  expect(tries).toBe(2);
  expect(await readMeta(db, 'key')).toBe('value');
  expect(await events()).toEqual([{ n: 3 }]);
});

test('a last statement whose name is lost is not repeated after its transaction failed', async () => {
  const { db, transaction, events } = await prepared();
  let tries = 0;
  const failed = transaction(async (tx) => {
    tries += 1;
    await writeMeta(tx, 'key', 'value');
    if (tries === 1) await forget(tx);
    await appendEvent(tx, null, event);
    keepBusy();
    throw new Error('The body failed');
  });
  await expect(failed).rejects.toThrow('The body failed');
  expect(await readMeta(db, 'key')).toBeNull();
  expect(await events()).toEqual([{ n: 2 }]);
});
