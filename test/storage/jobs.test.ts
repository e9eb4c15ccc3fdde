import { expect } from 'vitest';
import {
  addJobs,
  type ClaimedJob,
  claimJobs,
  endJob,
  renewJob,
  retryJob,
  type Store,
  transaction,
} from '../../src/storage/index.ts';
import { emptyUrl, onEngines } from './engines.ts';
import { freshStore, storeAt } from './stores.ts';

const LEASE = 1_000;
const add = (store: Store, key: string, dueAt: number, kind = 'card') =>
  transaction(store, (tx) => addJobs(tx, { kind, key, dueAt }));
const claim = (store: Store, now: number, owner = 'P', most = 10) =>
  transaction(store, (tx) =>
    claimJobs(tx, { owner, now, leaseMs: LEASE, lanes: [{ most, kinds: ['card'] }] }),
  );
const end = (store: Store, job: ClaimedJob | undefined) =>
  transaction(store, async (tx) => job && endJob(tx, job));
const keys = (jobs: readonly ClaimedJob[]) => jobs.map(({ key }) => key);

onEngines('due jobs are claimed once, the oldest first', async (engine) => {
  const store = await freshStore(engine);
  for (const [key, dueAt] of Object.entries({ C: 30, A: 10, B: 20 })) await add(store, key, dueAt);
  expect(keys(await claim(store, 25))).toEqual(['A', 'B']);
  expect(await claim(store, 25)).toEqual([]);
  expect(keys(await claim(store, 30, 'Q', 1))).toEqual(['C']);
});

onEngines('only jobs of the kinds that a process runs are claimed', async (engine) => {
  const store = await freshStore(engine);
  await add(store, 'A', 1, 'of a later release');
  await add(store, 'B', 1);
  expect(keys(await claim(store, 1))).toEqual(['B']);
});

onEngines('two processes share the due jobs', async (engine) => {
  const url = await emptyUrl(engine);
  const one = await storeAt(url);
  const other = await storeAt(url, { as: 'beside' });
  for (let n = 10; n < 40; n += 1) await add(one, String(n), 1);
  const claims = Array.from({ length: 8 }, (_, n) => claim(n % 2 ? one : other, 1, `P${n}`, 5));
  const claimed = (await Promise.all(claims)).flatMap(keys);
  expect(new Set(claimed).size).toBe(claimed.length);
  expect(claimed.length).toBeGreaterThan(4);
});

onEngines('a job that ended is gone', async (engine) => {
  const store = await freshStore(engine);
  await add(store, 'A', 1);
  const [job] = await claim(store, 1);
  await end(store, job);
  expect(await claim(store, 1_000_000)).toEqual([]);
});

onEngines('a job that is requested while it runs is run again', async (engine) => {
  const store = await freshStore(engine);
  await add(store, 'A', 1);
  const [job] = await claim(store, 1);
  await add(store, 'A', 500);
  await end(store, job);
  expect(await claim(store, 2)).toMatchObject([{ key: 'A', attempts: 1 }]);
});

onEngines('the earlier of two requests counts', async (engine) => {
  const store = await freshStore(engine);
  for (const dueAt of [50, 20, 80]) await add(store, 'A', dueAt);
  expect(await claim(store, 19)).toEqual([]);
  expect(await claim(store, 20)).toHaveLength(1);
});

onEngines('a job of a crashed process is claimed after its lease', async (engine) => {
  const store = await freshStore(engine);
  await add(store, 'A', 1);
  const [first] = await claim(store, 1);
  expect(await claim(store, LEASE)).toEqual([]);
  expect(await claim(store, LEASE + 1, 'Q')).toMatchObject([{ key: 'A', attempts: 2 }]);
  await end(store, first);
  expect(await claim(store, 3 * LEASE)).toMatchObject([{ key: 'A', attempts: 3 }]);
});

onEngines('a lease is extended only by the process that has it', async (engine) => {
  const store = await freshStore(engine);
  await add(store, 'A', 1);
  const [job] = await claim(store, 1);
  if (!job) throw new Error('no job was claimed');
  const renew = (by: ClaimedJob) => transaction(store, (tx) => renewJob(tx, by, 5_000));
  expect(await renew({ ...job, owner: 'Q' })).toBe(false);
  expect(await renew(job)).toBe(true);
  expect(await claim(store, 4_000)).toEqual([]);
});

onEngines('a job that failed waits, unless it was requested again', async (engine) => {
  const store = await freshStore(engine);
  const retry = (job: ClaimedJob | undefined) =>
    transaction(store, async (tx) => job && retryJob(tx, job, 900));
  await add(store, 'A', 1);
  await retry((await claim(store, 1))[0]);
  expect(await claim(store, 899)).toEqual([]);
  const [again] = await claim(store, 900);
  expect(again?.attempts).toBe(2);
  await add(store, 'A', 10);
  await retry(again);
  expect(await claim(store, 10)).toHaveLength(1);
});
