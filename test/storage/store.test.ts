import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import {
  addJobs,
  lockedTransaction,
  openStore,
  reading,
  type Store,
  transaction,
} from '../../src/storage/index.ts';
import { emptyUrl, onEngines, run } from './engines.ts';
import { freshStore, storeAt } from './stores.ts';

const job = (key: string) => ({ kind: 'card', key, dueAt: 1 });

async function keysIn(store: Store): Promise<readonly string[]> {
  const { rows } = await reading(store, (reader) =>
    sql<{ key: string }>`select key from job order by key`.execute(reader),
  );
  return rows.map(({ key }) => key);
}

onEngines('what a failed transaction wrote is gone, and the others stay', async (engine) => {
  const store = await freshStore(engine);
  const write = (key: string, fails = false) =>
    transaction(store, async (tx) => {
      await addJobs(tx, job(key));
      if (fails) throw new Error('refused');
    });
  const results = await Promise.allSettled([write('A'), write('B', true), write('C')]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await keysIn(store)).toEqual(['A', 'C']);
});

onEngines('locked transactions of two processes run one after the other', async (engine) => {
  const url = await emptyUrl(engine);
  const one = await storeAt(url);
  const other = await storeAt(url, { as: 'beside' });
  const steps: string[] = [];
  const lock = (store: Store, name: string) =>
    lockedTransaction(store, async (tx) => {
      steps.push(name);
      await addJobs(tx, job(name));
      await wait(20);
      steps.push(name);
    });
  await Promise.all([lock(one, 'A'), lock(other, 'B'), lock(one, 'C'), lock(other, 'D')]);
  expect(steps.filter((_, at) => at % 2 === 0)).toEqual(steps.filter((_, at) => at % 2 === 1));
  expect(await keysIn(one)).toEqual(['A', 'B', 'C', 'D']);
});

onEngines('fifty callers leave a connection for a reader', async (engine) => {
  const store = await freshStore(engine, { poolSize: 2 });
  const writers = Array.from({ length: 50 }, (_, n) =>
    lockedTransaction(store, (tx) => addJobs(tx, job(String(n)))),
  );
  expect((await keysIn(store)).length).toBeLessThanOrEqual(50);
  await Promise.all(writers);
  expect(await keysIn(store)).toHaveLength(50);
});

onEngines('a database of release 1.x is refused with what to do', async (engine) => {
  const url = await emptyUrl(engine);
  const create = 'create table audit_event (seq integer primary key)';
  if (engine === 'postgres') await run(url, create);
  else {
    const old = new DatabaseSync(url.slice('file:'.length));
    old.exec(create);
    old.close();
  }
  await expect(openStore(url)).rejects.toMatchObject({
    message: expect.stringContaining('1.x'),
    hint: expect.stringContaining('export its audit trail'),
  });
});

onEngines('a database of a newer release is refused', async (engine) => {
  const url = await emptyUrl(engine);
  const store = await openStore(url);
  await transaction(store, (tx) => sql`insert into migration values ('999-later')`.execute(tx));
  await store.close();
  await expect(openStore(url)).rejects.toThrow('999-later');
});

test('a reader next to the bot on one SQLite file cannot write', async () => {
  const url = await emptyUrl('sqlite');
  await storeAt(url);
  const reader = await storeAt(url, { as: 'reader' });
  await expect(transaction(reader, (tx) => addJobs(tx, job('A')))).rejects.toThrow(/readonly/i);
});
