import { expect, test } from 'vitest';
import * as inbox from '../../src/log/old/inbox.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { runTogether } from '../../src/storage/old/together.ts';
import { ENGINES, freshDatabase } from './engines.ts';
import { minutes, NOON } from './example-change.ts';

const batch = (at: number, owner = 'one', limit = 10) => ({
  owner,
  now: minutes(at),
  leaseMs: 60_000,
  limit,
});

function click(database: Database, key: string, at = 0): Promise<boolean> {
  const received = { key, kind: 'click', body: { by: 'UANA', text: key }, at: minutes(at) };
  return database.transaction((tx) => inbox.storeClick(tx, { signing: null }, received));
}

async function taken(database: Database, from: ReturnType<typeof batch>): Promise<string[]> {
  const items = await database.transaction((tx) => inbox.claimDueClicks(tx, null, from));
  return items.map(({ key }) => key);
}

test.for(ENGINES)('a redelivered click is recognized on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const five = await Promise.all([1, 2, 3, 4, 5].map(() => click(database, 'a')));
  expect(five.filter(Boolean)).toHaveLength(1);

  const [item] = await database.transaction((tx) => inbox.claimDueClicks(tx, null, batch(0)));
  const body = { by: 'UANA', text: 'a' };
  expect(item).toEqual({ key: 'a', kind: 'click', body, at: NOON, attempts: 1, problem: null });
  await database.transaction((tx) => inbox.markHandled(tx, 'a', NOON));
  expect(await click(database, 'a')).toBe(false);
  expect(await taken(database, batch(99))).toEqual([]);
});

test.for(ENGINES)(
  'an action that is handled at once is stored like a handled click on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const action = { key: 'a', kind: 'click', at: NOON };
    const store = () =>
      database.transaction(async (tx) => {
        const storing = inbox.storingHandled(tx, action);
        await runTogether(tx, [storing]);
        return storing.isFirst();
      });
    expect([await store(), await store()]).toEqual([true, false]);
    expect(await taken(database, batch(99))).toEqual([]);

    await click(database, 'b');
    await database.transaction((tx) => inbox.markHandled(tx, 'b', NOON));
    const [own, handled] = await database.db.selectFrom('inbox').selectAll().execute();
    expect({ ...own, dedup_key: 'b' }).toEqual(handled);
  },
);

test.for(ENGINES)('one replica claims a click until its lease expires on %s', async (engine) => {
  const database = await freshDatabase(engine);
  for (const key of ['c', 'b', 'a']) await click(database, key);
  await click(database, 'later', 1);

  expect(await taken(database, batch(0, 'one', 2))).toEqual(['a', 'b']);
  expect(await taken(database, batch(0, 'two'))).toEqual(['c']);
  expect(await taken(database, batch(0.9, 'two'))).toEqual([]);
  expect(await taken(database, batch(1, 'two'))).toEqual(['a', 'b', 'c', 'later']);
  const rows = await database.db.selectFrom('inbox').selectAll().orderBy('dedup_key').execute();
  expect(rows.map(({ attempts, lease_owner }) => [attempts, lease_owner])).toEqual([
    [2, 'two'],
    [2, 'two'],
    [2, 'two'],
    [1, 'two'],
  ]);
});

test.for(ENGINES)('concurrent replicas share the clicks on %s', async (engine) => {
  const database = await freshDatabase(engine);
  const keys = Array.from({ length: 30 }, (_, n) => `k${String(n).padStart(2, '0')}`);
  for (const key of keys) await click(database, key);
  const four = ['one', 'two', 'three', 'four'].map((owner) => taken(database, batch(0, owner, 10)));
  const shares = (await Promise.all(four)).flat();
  expect(shares.length).toBe(new Set(shares).size);
  const rest = await taken(database, batch(0, 'five', 30));
  expect([...shares, ...rest].sort()).toEqual(keys);
});

test('a replica that claims clicks does not block another', async () => {
  const database = await freshDatabase('postgres');
  for (const key of ['a', 'b']) await click(database, key);
  const took = Promise.withResolvers<void>();
  const other = took.promise.then(() => taken(database, batch(0, 'two')));
  const first = database.transaction(async (tx) => {
    const items = await inbox.claimDueClicks(tx, null, batch(0, 'one', 1));
    took.resolve();
    return [...items.map(({ key }) => key), ...(await other)];
  });
  expect(await first).toEqual(['a', 'b']);
});

test.for(ENGINES)(
  'the replica that received a click claims only this one on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    await click(database, 'a');
    await click(database, 'b');
    const take = (key: string, at: number) =>
      database.transaction((tx) => inbox.claimClick(tx, key, batch(at)));

    expect(await take('b', 0)).toBe(true);
    expect(await take('b', 0)).toBe(false);
    expect(await take('x', 0)).toBe(false);
    expect(await taken(database, batch(0))).toEqual(['a']);
    await database.transaction((tx) => inbox.markHandled(tx, 'b', minutes(0)));
    expect(await take('b', 5)).toBe(false);
  },
);

test.for(ENGINES)('a failed click waits for its retry on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await click(database, 'a');
  await taken(database, batch(0));
  await database.transaction((tx) => inbox.retryClickAt(tx, 'a', minutes(0.5)));
  expect(await taken(database, batch(0.4))).toEqual([]);
  expect(await taken(database, batch(0.5))).toEqual(['a']);
});

test.for(ENGINES)(
  'a handled click keeps only its key, until it is deleted, on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    for (const key of ['old', 'new', 'open']) await click(database, key);
    await database.transaction((tx) => inbox.markHandled(tx, 'old', minutes(1)));
    await database.transaction((tx) => inbox.markHandled(tx, 'new', minutes(2)));
    await database.transaction((tx) => inbox.retryClickAt(tx, 'new', minutes(3)));

    expect(await database.transaction((tx) => inbox.pruneInbox(tx, minutes(2)))).toBe(1);
    const rows = await database.db.selectFrom('inbox').selectAll().orderBy('dedup_key').execute();
    expect(rows.map((row) => [row.dedup_key, row.body])).toEqual([
      ['new', null],
      ['open', expect.any(String)],
    ]);
  },
);
