import { AsyncLocalStorage } from 'node:async_hooks';
import { StatementSync } from 'node:sqlite';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type StoreTx, transaction as transact } from '../../src/storage/index.ts';
import { freshStore } from './stores.ts';

/** A database whose commits are counted, and a clock that stands still. */
async function openGroups() {
  const store = await freshStore('sqlite');
  const { root } = store;
  await sql`create table colour (name text primary key, of text references colour(name)
    deferrable initially deferred)`.execute(root);
  const run = vi.spyOn(StatementSync.prototype, 'run');
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
    run.mockRestore();
  });
  const stored = async () => {
    const { rows } = await sql<{ name: string }>`select name from colour`.execute(root);
    return rows.map(({ name }) => name).toSorted();
  };
  const commits = () =>
    run.mock.contexts.filter((each) => each instanceof StatementSync && each.sourceSQL === 'commit')
      .length;
  const transaction = <T>(body: (tx: StoreTx) => Promise<T>) => transact(store, body);
  return { transaction, stored, commits, root };
}

function add(name: string, of: string | null = null) {
  return async (tx: StoreTx) => {
    await sql`insert into colour (name, of) values (${name}, ${of})`.execute(tx);
    return name;
  };
}

test('transactions that wait for the connection share a commit', async () => {
  const { transaction, stored, commits } = await openGroups();
  const names = ['blue', 'green', 'red'];
  expect(await Promise.all(names.map((name) => transaction(add(name))))).toEqual(names);
  expect(commits()).toBe(1);
  expect(await stored()).toEqual(names);
});

test('transactions that follow reads of the same connection share a commit', async () => {
  const { transaction, stored, commits, root } = await openGroups();
  const names = ['blue', 'green', 'red'];
  await Promise.all(
    names.map(async (name, index) => {
      for (let reads = 0; reads < index; reads += 1) await sql`select 1`.execute(root);
      await transaction(add(name));
    }),
  );
  expect(commits()).toBe(1);
  expect(await stored()).toEqual(names);
});

test('an error rolls back only its own transaction', async () => {
  const { transaction, stored, commits } = await openGroups();
  const fault = new Error('no');
  const results = await Promise.allSettled([
    transaction(add('blue')),
    transaction(async (tx) => {
      await add('green')(tx);
      throw fault;
    }),
    transaction(add('red')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(results[1]).toMatchObject({ reason: fault });
  expect(commits()).toBe(1);
  expect(await stored()).toEqual(['blue', 'red']);
});

test('no result is known before the commit, not even a refusal', async () => {
  const { transaction, commits } = await openGroups();
  const seen: number[] = [];
  const note = () => void seen.push(commits());
  const refuse = () => Promise.reject(new Error('no'));
  await Promise.all([
    transaction(add('blue')).then(note),
    transaction(refuse).catch(note),
    transaction(add('red')).then(note),
  ]);
  expect(seen).toEqual([1, 1, 1]);
});

test('a commit that fails rejects every transaction of its group, and the next one works', async () => {
  const { transaction, stored } = await openGroups();
  const results = await Promise.allSettled([
    transaction(add('blue')),
    transaction(add('green', 'missing')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await stored()).toEqual([]);
  await transaction(add('red'));
  expect(await stored()).toEqual(['red']);
});

test('on a full disk, exactly the transactions without an error are stored', async () => {
  const { transaction, stored, root } = await openGroups();
  await sql`pragma max_page_count = 8`.execute(root);
  const names = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(6_000));
  const results = await Promise.allSettled(names.map((name) => transaction(add(name))));
  expect(results.map(({ status }) => status)).toContain('rejected');
  const kept = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(await stored()).toEqual(kept);
});

test('a transaction that rolls everything back by itself rejects its whole group', async () => {
  const { transaction, stored } = await openGroups();
  const results = await Promise.allSettled([
    transaction(add('blue')),
    transaction((tx) => sql`insert or rollback into colour (name) values ('blue')`.execute(tx)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  for (const result of results) {
    expect(String(result.status === 'rejected' && result.reason)).toContain('UNIQUE');
  }
  expect(await stored()).toEqual([]);
});

test('a group takes at most 50 transactions, and none after 25 ms', async () => {
  const { transaction, commits } = await openGroups();
  const take = (ms: number) => async () => void vi.advanceTimersByTime(ms);
  const many = (count: number, ms: number) =>
    Promise.all(Array.from({ length: count }, () => transaction(take(ms))));
  await many(120, 0);
  expect(commits()).toBe(3);
  await many(4, 20);
  expect(commits()).toBe(5);
});

test('a body runs in the context of its caller', async () => {
  const { transaction } = await openGroups();
  const context = new AsyncLocalStorage<string>();
  const names = ['blue', 'green', 'red'];
  const seen = names.map((name) =>
    context.run(name, () => transaction(async () => context.getStore())),
  );
  expect(await Promise.all(seen)).toEqual(names);
});
