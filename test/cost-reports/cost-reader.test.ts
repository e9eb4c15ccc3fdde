import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { type CloudOptions, startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { createCloudClient } from '../../src/cloud/client.ts';
import { createCostReader } from '../../src/cost-reports/cost-reader.ts';
import { Secret } from '../../src/errors.ts';
import { freshDatabase } from '../storage/engines.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');
const NOVEMBER = { first: '2026-11-01', last: '2026-11-19' };
const AUTUMN = { first: '2026-09-15', last: '2026-11-19' };

async function reader(options: CloudOptions = {}) {
  const clock = { now: NOON };
  const now = () => clock.now;
  const cloud = await startCloudSimulator({ ...options, now });
  const database = await freshDatabase('sqlite');
  const stopping = new AbortController();
  const client = createCloudClient({
    baseUrl: cloud.url,
    keyId: CLOUD_KEY.id,
    keySecret: new Secret(CLOUD_KEY.secret),
    organizationId: ORGANIZATION.id,
    version: 'test',
    stopping: stopping.signal,
    clock: {
      now: () => clock.now.getTime(),
      sleep: async () => undefined,
      timeout: (ms) => AbortSignal.timeout(Math.ceil(ms)),
      random: () => 0.5,
    },
  });
  onTestFinished(async () => {
    await client.close();
    await cloud.stop();
  });
  const log = pino({ level: 'silent' });
  const again = () => createCostReader({ cloud: client, database, now, log });
  const calls = () => cloud.requests().filter(({ status }) => status === 200).length;
  return { cloud, clock, read: again(), again, calls, stop: () => stopping.abort() };
}

const people = { priority: 'people' } as const;

test('a span over three months is three calls, and then none for a quarter of an hour', async () => {
  const { read, calls, clock } = await reader();
  const first = await read(AUTUMN, people);
  expect(new Set(first.rows.map(({ day }) => day)).size).toBeGreaterThan(50);
  expect(first.gaps).toEqual([]);
  expect(calls()).toBe(3);
  clock.now = new Date(NOON.getTime() + 14 * 60_000);
  await read(NOVEMBER, people);
  expect(calls()).toBe(3);
  clock.now = new Date(NOON.getTime() + 16 * 60_000);
  await read(AUTUMN, people);
  // November goes on, and a day of October has no rows yet; September is settled for ever.
  expect(calls()).toBe(5);
});

test('a hundred who ask at once cost one call', async () => {
  const { read, calls } = await reader();
  await Promise.all(Array.from({ length: 100 }, () => read(NOVEMBER, people)));
  expect(calls()).toBe(1);
});

test('a restart, or another replica, begins with what was stored', async () => {
  const { read, again, calls } = await reader();
  const before = await read(NOVEMBER, people);
  const after = await again()(NOVEMBER, people);
  expect(calls()).toBe(1);
  expect(after).toEqual(before);
});

test('while the report cannot be read, the figures of before are shown with their age', async () => {
  const { read, cloud, clock } = await reader();
  const before = await read(NOVEMBER, people);
  clock.now = new Date(NOON.getTime() + 3_600_000);
  cloud.injectFault({ operation: 'usage cost', fault: '500', times: 20 });
  const { rows, gaps, fetchedAt } = await read(NOVEMBER, people);
  expect(rows).toEqual(before.rows);
  expect(fetchedAt).toEqual(NOON);
  expect(gaps).toMatchObject([{ month: '2026-11', from: NOON }]);
});

test('where nothing was ever read, nothing is shown, and never a zero', async () => {
  const { read, cloud } = await reader();
  cloud.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
  const { rows, gaps, fetchedAt } = await read(NOVEMBER, people);
  expect(rows).toEqual([]);
  expect(fetchedAt).toBeNull();
  expect(gaps).toMatchObject([{ month: '2026-11', from: null }]);
  expect(gaps[0]?.why).toMatch(/^the API key may not read it: .*FORBIDDEN/);
  expect(gaps[0]?.denied).toBe(true);
});

test('costs in another shape are read all the same', async () => {
  const { read, cloud } = await reader();
  cloud.injectFault({ operation: 'usage cost', fault: 'costs-null', times: 2 });
  expect((await read(NOVEMBER, people)).rows).toEqual([]);
});

test('a stop cancels a read of many months as a whole, without gaps', async () => {
  const { read, cloud, stop } = await reader();
  cloud.injectFault({ operation: 'usage cost', fault: 'hang', times: 99 });
  const told = read({ first: '2026-01-01', last: '2026-11-19' }, people);
  const asked = () => cloud.requests().length;
  await expect.poll(asked).toBe(1);
  stop();
  await expect(told).rejects.toMatchObject({ kind: 'stopping' });
  expect(asked()).toBe(1);
});
