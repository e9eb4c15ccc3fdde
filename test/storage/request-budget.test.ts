import { expect, onTestFinished, test } from 'vitest';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { Secret } from '../../src/base/errors.ts';
import type { StartWindow } from '../../src/base/http-limits.ts';
import { type Clock, systemClock } from '../../src/base/time.ts';
import { type Store, transaction } from '../../src/storage/database.ts';
import { openRequestBudget } from '../../src/storage/limits.ts';
import { cloudClient } from '../servers/clients.ts';
import { emptyUrl } from './engines.ts';
import { freshStore, storeAt } from './stores.ts';

/** So long that no start leaves it during a test: the clock of the database cannot be set. */
const WINDOW = { requests: 10, reads: 7, optional: 3, perMs: 600_000 };
const READ: StartWindow = { ...WINDOW, priority: 'people' };
const WRITE: StartWindow = { ...WINDOW, priority: 'write' };
const OPTIONAL: StartWindow = { ...WINDOW, priority: 'optional' };
/** A loaded machine may take more than a second for one claim. */
const UNLIMITED_MS = 60_000;
const REPLICAS = ['r-1', 'r-2', 'r-3'];

/** Each sleep ends at once and moves this clock, while that of the database does not. */
function skippingClock(): Clock {
  const time = { ms: 0 };
  const sleep = async (ms: number) => {
    time.ms += ms;
  };
  return { ...systemClock, now: () => time.ms, sleep };
}

async function openReplicas(): Promise<readonly Store[]> {
  const url = await emptyUrl('postgres');
  return Promise.all(REPLICAS.map(() => storeAt(url)));
}

async function cloudClients(databases: readonly Store[], aheadMs = () => 0) {
  const cloud = await startCloudSimulator({ now: () => new Date(Date.now() + aheadMs()) });
  onTestFinished(cloud.stop);
  const clients = databases.map((database) =>
    cloudClient(cloud.url, {
      ...{ keyId: CLOUD_KEY.id, keySecret: new Secret(CLOUD_KEY.secret) },
      ...{ organizationId: ORGANIZATION.id, privateAddresses: true, clock: skippingClock() },
      reads: { mode: 'extended', now: () => new Date(), onOff: () => undefined },
      sharedBudget: openRequestBudget(database, 'cloud', UNLIMITED_MS),
    }),
  );
  return { cloud, clients };
}

const ids = ORGANIZATION.services.map(({ id }) => id);

/** Beside these reads, each replica sends its change within the ten requests, and gets no 429. */
async function expectWrites(
  reads: readonly Promise<unknown>[],
  { cloud, clients }: Awaited<ReturnType<typeof cloudClients>>,
) {
  const writes = clients.map((client, index) =>
    client.updateServiceState(ids[index] ?? '', { command: 'stop' }),
  );
  await Promise.allSettled([...reads, ...writes]);
  expect(cloud.count('set state')).toBe(3);
  expect(cloud.requests()).toHaveLength(10);
  expect(cloud.requests().map(({ status }) => status)).not.toContain(429);
}

test('three replicas that start together send no more than one key allows, and get no 429', async () => {
  const databases = await openReplicas();
  const { cloud, clients } = await cloudClients(databases);
  const period = { from_date: '2026-11-01', to_date: '2026-11-19' };
  const reads = clients.flatMap((client) =>
    Array.from({ length: 10 }, () => client.getUsageCost(period).then(String, String)),
  );
  await Promise.all(reads);
  const statuses = cloud.requests().map(({ status }) => status);
  expect(statuses).not.toContain(429);
  // Three of ten places are kept for writes.
  expect(statuses).toHaveLength(7);
});

test('three replicas with extended reads send three optional ones, and leave the rest to writes and people', async () => {
  const databases = await openReplicas();
  const { cloud, clients } = await cloudClients(databases);
  await Promise.all(clients.flatMap(({ reads }) => ids.map((id) => reads.service(id))));
  expect(cloud.requests().map(({ operation }) => operation)).toEqual(Array(3).fill('get service'));

  const period = { from_date: '2026-11-01', to_date: '2026-11-19' };
  const reads = clients.flatMap((client) => [
    ...Array.from({ length: 5 }, () => client.getUsageCost(period)),
    ...ids.map((id) => client.reads.service(id, { waiting: true })),
  ]);
  await expectWrites(reads, { cloud, clients });
});

test('three replicas that read services for previews and before sending leave the writes their places', async () => {
  const databases = await openReplicas();
  const { cloud, clients } = await cloudClients(databases);
  const now = { fresh: true, waiting: true };
  const reads = clients.flatMap((client) => [
    ...ids.map((id) => client.reads.service(id, now)),
    client.reads.services(now),
  ]);
  await expectWrites(reads, { cloud, clients });
});

/** Lets the time pass for the starts in the database, whose own clock cannot be set. */
async function ageStarts(store: Store, ms: number): Promise<void> {
  await transaction(store, async (tx) => {
    const row = await tx.selectFrom('request_budget').select('starts').executeTakeFirst();
    const starts: { readonly at: number }[] = JSON.parse(row?.starts ?? '[]');
    const aged = starts.map((start) => ({ ...start, at: start.at - ms }));
    await tx
      .updateTable('request_budget')
      .set({ starts: JSON.stringify(aged) })
      .execute();
  });
}

const STEP_MS = 2_500;
const STEPS = 7;
/** In steps. Follow-ups are due in each. */
const [PREVIEWED_EVERY, DISCOVERED_EVERY, WRITTEN_EVERY] = [2, 4, 5];

test('discovery, follow-ups, previews and changes of three replicas stay within ten requests in 10 s', async () => {
  const databases = await openReplicas();
  const [database] = databases;
  if (!database) throw new Error('There is no database');
  let aheadMs = 0;
  const { cloud, clients } = await cloudClients(databases, () => aheadMs);
  for (let step = 0; step < STEPS; step += 1) {
    const isDue = (every: number) => step % every === 0;
    const traffic = clients.flatMap(({ reads, ...client }, index) => [
      ...(isDue(DISCOVERED_EVERY) ? [reads.services({ fresh: true })] : []),
      ...ids.slice(0, 4).map((id) => reads.service(id, { fresh: true })),
      ...(isDue(PREVIEWED_EVERY)
        ? [reads.service(ids[index] ?? '', { fresh: true, waiting: true })]
        : []),
      ...(isDue(WRITTEN_EVERY)
        ? [client.updateServiceState(ids[index] ?? '', { command: 'stop' })]
        : []),
    ]);
    await Promise.allSettled(traffic);
    await ageStarts(database, STEP_MS);
    aheadMs += STEP_MS;
  }
  const requests = cloud.requests();
  const times = requests.map(({ at }) => Date.parse(at));
  const within = times.map((from) => times.filter((at) => at >= from && at < from + 10_000).length);
  expect(Math.max(...within)).toBeLessThanOrEqual(10);
  expect(requests.map(({ status }) => status)).not.toContain(429);
  // The three replicas send each of their changes at once.
  expect(cloud.count('set state')).toBe(Math.ceil(STEPS / WRITTEN_EVERY) * REPLICAS.length);
  expect(cloud.count('list services')).toBeGreaterThan(0);
});

/** What each of five claims of three processes at once waits. */
async function claimers() {
  const databases = await openReplicas();
  const budgets = databases.map((database) => openRequestBudget(database, 'cloud', UNLIMITED_MS));
  return (window: StartWindow) =>
    Promise.all(budgets.flatMap((claim) => Array.from({ length: 5 }, () => claim(window))));
}

const free = (waits: readonly number[]) => waits.filter((waitMs) => waitMs === 0).length;

test('concurrent claims of several processes get ten starts, three of them for writes only', async () => {
  const claims = await claimers();
  expect(free(await claims(READ))).toBe(7);
  // Reads have no place left, so optional reads have none either.
  expect(free(await claims(OPTIONAL))).toBe(0);
  const writes = await claims(WRITE);
  expect(free(writes)).toBe(3);
  expect(Math.max(...writes)).toBeGreaterThan(300_000);
  expect(Math.max(...writes)).toBeLessThanOrEqual(WINDOW.perMs);
});

test('optional reads of several processes get three starts, and leave the rest to others', async () => {
  const claims = await claimers();
  const got = [free(await claims(OPTIONAL)), free(await claims(READ)), free(await claims(WRITE))];
  expect(got).toEqual([3, 4, 3]);
});

test('starts that cannot be read count as none', async () => {
  const database = await freshStore('postgres');
  const budget = openRequestBudget(database, 'cloud', UNLIMITED_MS);
  const starts = JSON.stringify([{ at: 'yesterday' }]);
  await transaction(database, (tx) =>
    tx.insertInto('request_budget').values({ api: 'cloud', starts }).execute(),
  );
  expect(await budget(OPTIONAL)).toBe(0);
});

test('each API has a window of its own, and an old start leaves it', async () => {
  const database = await freshStore('postgres');
  const budget = openRequestBudget(database, 'cloud', UNLIMITED_MS);
  const one = { ...WRITE, requests: 1, reads: 1, perMs: 10_000 };
  expect(await budget(one)).toBe(0);
  expect(await budget(one)).toBeGreaterThan(0);
  expect(await budget({ ...one, perMs: 0 })).toBe(0);
  const other = openRequestBudget(database, 'alerts');
  expect(await other(one)).toBe(0);
});
