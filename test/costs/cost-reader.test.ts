import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CloudBehaviour } from '../../sandbox/cloud/behaviour.ts';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import type { CloudOptions } from '../../sandbox/cloud/state.ts';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { Secret } from '../../src/base/errors.ts';
import { addDays, dayOf, systemClock } from '../../src/base/time.ts';
import { createOrganizationsReader } from '../../src/costs/organizations.ts';
import { createCostReader, distinctNames } from '../../src/costs/reader.ts';
import { storeMonth } from '../../src/costs/store.ts';
import { explainChange } from '../../src/maths/compare.ts';
import { dayStates } from '../../src/maths/days.ts';
import type { PriceList } from '../../src/maths/money.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { createCloudClient } from '../../src/servers/cloud.ts';
import { transaction } from '../../src/storage/index.ts';
import { freshLog } from '../log/logs.ts';
import { row, warehouseRow } from '../maths/rows.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');
const NOVEMBER = { first: '2026-11-01', last: '2026-11-19' };
const AUTUMN = { first: '2026-09-15', last: '2026-11-19' };

async function reader(options: CloudOptions = {}) {
  const clock = { now: NOON };
  const now = () => clock.now;
  const cloud = await startCloudSimulator({ ...options, now });
  const events = await freshLog('sqlite');
  const { store } = events;
  const stopping = new AbortController();
  const clientOf = (baseUrl: string, organizationId = ORGANIZATION.id) =>
    createCloudClient({
      baseUrl,
      keyId: CLOUD_KEY.id,
      keySecret: new Secret(CLOUD_KEY.secret),
      organizationId,
      version: 'test',
      stopping: stopping.signal,
      clock: {
        ...systemClock,
        now: () => clock.now.getTime(),
        sleep: async () => undefined,
        random: () => 0.5,
      },
    });
  const client = clientOf(cloud.url);
  onTestFinished(async () => {
    await client.close();
    await cloud.stop();
  });
  const log = pino({ level: 'silent' });
  const again = (organizationId = ORGANIZATION.id, prices: PriceList | null = null) =>
    createCostReader({ cloud: client, organizationId, store, events, prices, now, log });
  const calls = () => cloud.requests().filter(({ status }) => status === 200).length;
  const parts = { store, events, now, log };
  const stop = () => stopping.abort();
  return { cloud, clock, store, read: again(), again, calls, stop, client, clientOf, parts };
}

const people = { priority: 'people' } as const;

test('a span of three months takes three calls, and then none for 15 minutes', async () => {
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

test('a fresh read fetches every month that can still change, and no final one', async () => {
  const { read, calls, clock } = await reader();
  const SEPTEMBER = { first: '2026-09-01', last: '2026-09-30' };
  expect(await read(AUTUMN, people)).toMatchObject({ fetchedAt: NOON });
  clock.now = new Date(NOON.getTime() + 60_000);
  const fresh = await read(AUTUMN, { ...people, fresh: true });
  // October has a day without rows.
  expect(calls()).toBe(5);
  expect(fresh).toMatchObject({ fetchedAt: clock.now });
  expect(fresh).not.toHaveProperty('isFinal');
  const september = await read(SEPTEMBER, { ...people, fresh: true });
  expect(september).toMatchObject({ fetchedAt: NOON, isFinal: true });
  expect(calls()).toBe(5);
});

test('what another replica read again is shown at once, and not fetched twice', async () => {
  const { read, again, calls, clock } = await reader();
  const other = again();
  await other(NOVEMBER, people);
  clock.now = new Date(NOON.getTime() + 60_000);
  await read(NOVEMBER, { ...people, fresh: true });
  expect(calls()).toBe(2);
  expect((await other(NOVEMBER, people)).fetchedAt).toEqual(clock.now);
  expect(calls()).toBe(2);
});

test('a hundred questions at once cost one call', async () => {
  const { read, calls } = await reader();
  await Promise.all(Array.from({ length: 100 }, () => read(NOVEMBER, people)));
  expect(calls()).toBe(1);
});

test('a restart, or another replica, starts with the stored months', async () => {
  const { read, again, calls } = await reader();
  const before = await read(NOVEMBER, people);
  const after = await again()(NOVEMBER, people);
  expect(calls()).toBe(1);
  expect(after).toEqual(before);
});

test('each row gets the price of its day, and nothing of it is stored', async () => {
  const prices = [{ from: '2026-11-16', currency: 'EUR', perCredit: 350_000 }];
  const { again } = await reader();
  const { rows } = await again(ORGANIZATION.id, prices)(NOVEMBER, people);
  const priced = new Set(rows.flatMap(({ day, price }) => (price ? [day] : [])));
  expect([...priced].sort()[0]).toBe('2026-11-16');
  expect(rows.filter(({ day }) => day < '2026-11-16')).not.toEqual([]);
  expect((await again()(NOVEMBER, people)).rows.some(({ price }) => price)).toBe(false);
});

test('a month of another organization is not shown on the same database', async () => {
  const { read, again, store, calls } = await reader();
  const { id } = ORGANIZATION;
  const of = { first: '2026-10-01', last: '2026-10-31' };
  const stored = { month: '2026-10', fetchedAt: NOON, final: true };
  const report = { rows: [], problems: [] };
  await transaction(store, (tx) => storeMonth(tx, id, { ...stored, report }));
  expect((await read(of, people)).rows).toEqual([]);
  expect(calls()).toBe(0);
  expect((await again('0b7c2a52-6c8e-4d1e-9f1a-3d2f5b8f7e10')(of, people)).rows).not.toEqual([]);
  expect(calls()).toBe(1);
});

test.for<Partial<CloudBehaviour>>([
  { costDateRefusal: 'encoded value' },
  { costDateRefusal: 'field', costDateStatus: 422 },
  { costDateRefusal: 'no reason' },
  { costDateRefusal: 'html', costDateStatus: 422 },
  { costDates: 'date-time' },
])('costs are read from a server with %j', async (behaviour) => {
  const { read } = await reader({ behaviour });
  const { rows, gaps } = await read(NOVEMBER, people);
  expect(gaps).toEqual([]);
  expect(rows.length).toBeGreaterThan(100);
});

test('a report of more than 16 MiB is read to the last row', async () => {
  const { read, cloud } = await reader({ profile: 'contract' });
  cloud.injectFault({ operation: 'usage cost', fault: 'costs-62000-rows', times: 2 });
  const { rows, gaps, problems } = await read({ first: '2026-10-01', last: '2026-10-31' }, people);
  expect(gaps).toEqual([]);
  expect(problems).toEqual([]);
  expect(rows).toHaveLength(62_000);
});

const OCTOBER = { first: '2026-10-01', last: '2026-10-31' };

test.for(['extended', 'contract'] as const)(
  'a warehouse with the id of a service loses no credits (%s)',
  async (profile) => {
    const usual = await reader({ profile });
    const shared = await reader({ profile, behaviour: { costWarehouseIds: 'of a service' } });
    const total = async ({ read }: typeof usual) =>
      (await read(OCTOBER, people)).rows.reduce((sum, row) => sum + row.total, 0);
    expect(await total(shared)).toBe(await total(usual));
    expect((await shared.read(OCTOBER, people)).problems).toEqual([]);
  },
);

test('while the report cannot be read, older figures are shown with their age', async () => {
  const { read, cloud, clock } = await reader();
  const before = await read(NOVEMBER, people);
  clock.now = new Date(NOON.getTime() + 3_600_000);
  cloud.injectFault({ operation: 'usage cost', fault: '500', times: 20 });
  const { rows, gaps, fetchedAt } = await read(NOVEMBER, people);
  expect(rows).toEqual(before.rows);
  expect(fetchedAt).toEqual(NOON);
  expect(gaps).toMatchObject([{ month: '2026-11', from: NOON }]);
});

test('without any stored copy, nothing is shown, and never a zero', async () => {
  const { read, cloud } = await reader();
  cloud.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
  const { rows, gaps, fetchedAt } = await read(NOVEMBER, people);
  expect(rows).toEqual([]);
  expect(fetchedAt).toBeNull();
  expect(gaps).toMatchObject([{ month: '2026-11', from: null }]);
  expect(gaps[0]?.why).toMatch(/FORBIDDEN/);
  expect(gaps[0]?.denied).toBe(true);
});

test('a stop cancels a read of many months as a whole, without gaps', async () => {
  const { read, cloud, stop } = await reader();
  cloud.injectFault({ operation: 'usage cost', fault: 'hang', times: 99 });
  const reading = read({ first: '2026-01-01', last: '2026-11-19' }, people);
  const asked = () => cloud.requests().length;
  await expect.poll(asked).toBe(1);
  stop();
  await expect(reading).rejects.toMatchObject({ kind: 'stopping' });
  expect(asked()).toBe(1);
});

test('a first read knows nothing about the completeness of open days', async () => {
  const { read } = await reader();
  const { rows } = await read(NOVEMBER, people);
  const open = dayStates(rows, NOVEMBER).filter(({ state }) => state === 'preliminary');
  expect(open.length).toBeGreaterThan(2);
  expect(open.every(({ openDay }) => openDay?.completeness === null)).toBe(true);
});

test('completeness is learned from the daily reads, also after a restart', async () => {
  const costLocking = { days: 12, batchDays: 1, stragglers: 0 };
  const { read, clock, again } = await reader({ behaviour: { costLocking, rateLimit: null } });
  for (let day = 0; day < 20; day += 1) {
    clock.now = new Date(NOON.getTime() + day * 24 * 3_600_000);
    await read({ first: '2026-11-01', last: dayOf(clock.now) }, people);
  }
  const today = dayOf(clock.now);
  const span = { first: '2026-11-01', last: today };
  const { rows } = await read(span, people);
  const [yesterday] = dayStates(rows, span).filter(({ day }) => day === addDays(today, -1));
  const completeness = yesterday?.openDay?.completeness;
  expect(completeness?.share).toBeLessThan(1);
  const restarted = await again()(span, people);
  expect(
    dayStates(restarted.rows, span).find(({ day }) => day === yesterday?.day)?.openDay,
  ).toEqual(yesterday?.openDay);
  const final = dayStates(rows, span).findLast(({ state }) => state === 'final');
  expect(final?.day).toBe(addDays(today, -12));
});

describe('two organizations', () => {
  const HOUR = 3_600_000;
  const US = '0b7c2a52-6c8e-4d1e-9f1a-3d2f5b8f7e10';

  async function pair() {
    const eu = await reader();
    const us = await startCloudSimulator({
      now: () => eu.clock.now,
      organization: { ...ORGANIZATION, id: US },
    });
    const client = eu.clientOf(us.url, US);
    onTestFinished(async () => {
      await client.close();
      await us.stop();
    });
    const organizations = [
      { id: ORGANIZATION.id, name: 'prod-eu', client: eu.client },
      { id: US, name: 'prod-us', client },
    ];
    const read = createOrganizationsReader(organizations, eu.parts);
    const names = async (span = NOVEMBER, how: Parameters<typeof read>[1] = people) => {
      const { rows, organizations = [] } = await read(span, how);
      const without = organizations.flatMap(({ name, isMissing }) => (isMissing ? [name] : []));
      const shown = [...new Set(rows.map(({ organization }) => organization))].sort();
      return { shown, without };
    };
    return { ...eu, us, organizations, read, names };
  }

  test('are read with their own keys and stored apart; rows name theirs', async () => {
    const { read, cloud, us, names, again } = await pair();
    const single = await again()(NOVEMBER, people);
    expect(single.rows.some(({ organization }) => organization)).toBe(false);
    expect(await names()).toEqual({ shown: ['prod-eu', 'prod-us'], without: [] });
    const read200 = ({ requests }: typeof us) =>
      requests().filter(({ status }) => status === 200).length;
    expect([cloud, us].map(read200)).toEqual([1, 1]);
    const { rows } = await read(NOVEMBER, { ...people, organizationId: US });
    expect(new Set(rows.map(({ organization }) => organization))).toEqual(new Set(['prod-us']));
    expect(await names(NOVEMBER, { priority: 'background', storedOnly: true })).toEqual({
      shown: ['prod-eu', 'prod-us'],
      without: [],
    });
  });

  test('one that does not answer is not waited for long', async () => {
    const { us, organizations, parts, stop, again } = await pair();
    // The copy of the other one is stored: it needs no time of a loaded machine.
    await again()(NOVEMBER, people);
    us.injectFault({ operation: 'usage cost', fault: 'hang', times: 99 });
    const read = createOrganizationsReader(organizations, parts, 200);
    const { rows, gaps } = await read(NOVEMBER, people);
    expect(new Set(rows.map(({ organization }) => organization))).toEqual(new Set(['prod-eu']));
    expect(gaps).toMatchObject([{ organization: 'prod-us', why: 'not read yet', from: null }]);
    stop();
  });

  test('one that fails stops no other; its gap names it', async () => {
    const { read, us, names } = await pair();
    us.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
    expect(await names()).toEqual({ shown: ['prod-eu'], without: ['prod-us'] });
    const { gaps, fetchedAt } = await read(NOVEMBER, people);
    expect(gaps).toMatchObject([{ organization: 'prod-us', month: '2026-11', from: null }]);
    expect(fetchedAt).toEqual(NOON);
  });

  test('a copy that was read this day counts with its age, one without yesterday is no cost of 0', async () => {
    const { read, us, names, clock } = await pair();
    await names();
    us.injectFault({ operation: 'usage cost', fault: '500', times: 99 });
    clock.now = new Date(NOON.getTime() + HOUR);
    expect(await names()).toEqual({ shown: ['prod-eu', 'prod-us'], without: [] });
    expect((await read(NOVEMBER, people)).gaps).toMatchObject([{ from: NOON }]);
    clock.now = new Date(NOON.getTime() + 24 * HOUR);
    const whole = { first: '2026-11-01', last: '2026-11-20' };
    // Where no copy has more days than the others, none is left out.
    const stored = await names(whole, { priority: 'background', storedOnly: true });
    expect(stored).toEqual({ shown: ['prod-eu', 'prod-us'], without: [] });
    const without = { shown: ['prod-eu'], without: ['prod-us'] };
    expect(await names(whole)).toEqual(without);
    expect(await names(whole, { priority: 'background', storedOnly: true })).toEqual(without);
    expect((await read(whole, people)).gaps).toMatchObject([{ from: null }]);
    // The days that the copy has are known.
    expect((await names()).without).toEqual([]);
  });
});

describe('entities of one name', () => {
  const twin = (entityId: string, more: Partial<CostRow> = {}) =>
    row({ entityId, serviceId: entityId, entityName: 'analytics', ...more });
  const namesOf = (rows: readonly CostRow[]) => distinctNames(rows).map((one) => one.entityName);

  test('have a short id, so that none looks like the other one that is gone', () => {
    const before = twin('1a0e9c1e-01', { day: '2026-11-10' });
    const after = twin('9b0e9c1e-02', { day: '2026-11-18' });
    expect(namesOf([before, after])).toEqual(['analytics (1a0e)', 'analytics (9b0e)']);
    const explained = explainChange(distinctNames([before, after]), [
      { now: '2026-11-18', before: '2026-11-10' },
    ]);
    expect(explained.movers.map(({ name }) => name).toSorted()).toEqual([
      'analytics (1a0e) · compute',
      'analytics (9b0e) · compute',
    ]);
  });

  test('have the whole id where the beginnings are alike', () => {
    const alike = [twin('aaaa-1111'), twin('aaaa-2222')];
    expect(namesOf(alike)).toEqual(['analytics (aaaa-1111)', 'analytics (aaaa-2222)']);
  });

  test('also after one of them was renamed; a warehouse of that name is no twin', () => {
    const renamed = [
      twin('1a0e9c1e-01', { entityName: 'old', day: '2026-11-10' }),
      twin('1a0e9c1e-01', { day: '2026-11-18' }),
      twin('9b0e9c1e-02', { day: '2026-11-18' }),
    ];
    expect(namesOf(renamed)).toEqual(['analytics (1a0e)', 'analytics (1a0e)', 'analytics (9b0e)']);
    expect(namesOf([twin('s-1'), warehouseRow({ entityName: 'analytics' })])).toEqual([
      'analytics',
      'analytics',
    ]);
  });
});
