import { expect, test } from 'vitest';
import type { CloudBehaviour } from '../../../sandbox/cloud/behaviour.ts';
import type { CostLocking } from '../../../sandbox/cloud/cost-locking.ts';
import { cloudServer, type Reading, serviceId } from '../servers.ts';

const DAY_MS = 86_400_000;
type Ask = Awaited<ReturnType<typeof cloudServer>>['ask'];

interface Row {
  readonly date: string;
  readonly entityType?: string;
  readonly entityId: string;
  readonly entityName: string;
  readonly serviceId: string | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly totalCredits: number;
  readonly locked: boolean;
}

const report = (ask: Ask, from: string, to: string) =>
  ask('GET', `/usageCost?from_date=${from}&to_date=${to}`);

async function rowsOf(ask: Ask, from: string, to = from): Promise<readonly Row[]> {
  const { json } = await report(ask, from, to);
  return rowsIn(json.result?.costs);
}

// The tests below look at the fields of this shape one by one.
function rowsIn(costs: Reading | undefined): readonly Row[] {
  return costs as unknown as readonly Row[];
}

const sum = (rows: readonly Row[]) => rows.reduce((all, { totalCredits }) => all + totalCredits, 0);
const ofEntity = (rows: readonly Row[], name: string) =>
  rows.filter(({ entityName }) => entityName === name);

test('a final day is the same in each report, and its total is the sum of its rows', async () => {
  const [one, other] = [await locking({}), await locking({})];
  const first = await report(one.ask, '2026-11-07', '2026-11-07');
  const again = await report(one.ask, '2026-11-07', '2026-11-07');
  const elsewhere = await report(other.ask, '2026-11-07', '2026-11-07');
  expect(again.json.result).toEqual(first.json.result);
  expect(elsewhere.json.result).toEqual(first.json.result);
  const rows = rowsIn(first.json.result?.costs);
  expect(rows.every(({ locked }) => locked)).toBe(true);
  expect(Number(first.json.result?.grandTotalCredits)).toBeCloseTo(sum(rows), 6);
  for (const { metrics, totalCredits } of rows) {
    const total = Object.values(metrics).reduce((all, value) => all + value, 0);
    expect(totalCredits).toBeCloseTo(total, 3);
  }
});

const openDays = (rows: readonly Row[]) =>
  [...new Set(rows.filter(({ locked }) => !locked).map(({ date }) => date))].sort();

function locking(changes: Partial<CostLocking>) {
  const costLocking = { days: 12, batchDays: 1, stragglers: 0, ...changes };
  return cloudServer({ behaviour: { costLocking } });
}

test('rows lock after twelve days by default, and a few of them later', async () => {
  const { ask } = await cloudServer();
  const rows = await rowsOf(ask, '2026-10-25', '2026-11-20');
  const late = rows.filter(({ date, locked }) => !locked && date <= '2026-11-08');
  expect(late.length).toBeGreaterThan(0);
  expect(late.length).toBeLessThan(rows.length / 10);
  expect(rows.filter(({ date, locked }) => locked && date > '2026-11-08')).toEqual([]);
});

test.for([1, 2, 5, 9, 14])('rows lock after %i days', async (days) => {
  const { ask } = await locking({ days });
  const open = openDays(await rowsOf(ask, '2026-11-01', '2026-11-20'));
  expect(open).toHaveLength(days);
  expect(open.at(-1)).toBe('2026-11-20');
});

test('rows of a weekly batch lock on the same day', async () => {
  const { ask, clock } = await locking({ days: 2, batchDays: 7 });
  const counts: number[] = [];
  for (let day = 0; day < 14; day += 1) {
    const today = new Date(Date.parse('2026-11-20') + day * DAY_MS).toISOString().slice(0, 10);
    counts.push(openDays(await rowsOf(ask, '2026-11-10', today)).length);
    clock.advance(DAY_MS);
  }
  expect(
    counts.filter((count, index) => index > 0 && count < (counts[index - 1] ?? 0)),
  ).toHaveLength(2);
});

test('today and the two previous days change between reports, older ones only when they lock', async () => {
  const { ask, clock } = await locking({ days: 4, stragglers: 0.3 });
  const first = await rowsOf(ask, '2026-11-17', '2026-11-20');
  const second = await rowsOf(ask, '2026-11-17', '2026-11-20');
  const on = (rows: readonly Row[], day: string) => rows.filter(({ date }) => date === day);
  expect(sum(on(second, '2026-11-18'))).not.toBe(sum(on(first, '2026-11-18')));
  expect(openDays(first)).toContain('2026-11-17');
  expect(on(second, '2026-11-17')).toEqual(on(first, '2026-11-17'));
  clock.advance(20 * DAY_MS);
  const locked = await rowsOf(ask, '2026-11-17', '2026-11-20');
  expect(locked.every((row) => row.locked)).toBe(true);
  expect(sum(on(locked, '2026-11-17'))).toBeGreaterThan(sum(on(first, '2026-11-17')));
  expect(await rowsOf(ask, '2026-11-17', '2026-11-20')).toEqual(locked);
});

test('warehouses, services and pipes have separate rows', async () => {
  const { ask } = await cloudServer();
  const rows = await rowsOf(ask, '2026-11-10');
  const counts = Object.entries(Object.groupBy(rows, ({ entityType }) => entityType ?? ''));
  expect(counts.map(([type, all]) => [type, all?.length])).toEqual([
    ['datawarehouse', 3],
    ['service', 11],
    ['pipe', 5],
  ]);
  const [warehouse] = ofEntity(rows, 'main');
  expect(warehouse?.serviceId).toBeNull();
  expect(Object.keys(warehouse?.metrics ?? {})).toEqual(['storageCredits', 'backupCredits']);
  expect(ofEntity(rows, 'orders')[0]?.serviceId).toBe(serviceId('analytics-prod'));
});

test("the contract's rows have ten metrics and no type", async () => {
  const { ask } = await cloudServer({ profile: 'contract' });
  const [row] = await rowsOf(ask, '2026-11-10');
  expect(row).not.toHaveProperty('entityType');
  expect(Object.keys(row?.metrics ?? {})).toHaveLength(10);
  expect(row?.metrics.interRegionTier4DataTransferCredits).toBe(0);
});

test('services with office hours cost less at the weekend', async () => {
  const { ask } = await cloudServer();
  const [friday] = ofEntity(await rowsOf(ask, '2026-11-13'), 'analytics-prod');
  const [saturday] = ofEntity(await rowsOf(ask, '2026-11-14'), 'analytics-prod');
  expect((saturday?.totalCredits ?? 0) / (friday?.totalCredits ?? 0)).toBeLessThan(0.5);
});

test('analytics-dev has one expensive day, and analytics-eu stays more expensive', async () => {
  const { ask } = await cloudServer();
  const rows = await rowsOf(ask, '2026-10-20', '2026-11-19');
  const spike = ofEntity(rows, 'analytics-dev').toSorted((a, b) => b.totalCredits - a.totalCredits);
  expect(spike[0]?.date).toBe('2026-11-12');
  expect(spike[0]?.totalCredits).toBeGreaterThan(3 * (spike[1]?.totalCredits ?? 0));
  const level = new Map(ofEntity(rows, 'analytics-eu').map((row) => [row.date, row.totalCredits]));
  // Two Fridays, before and after the shift.
  expect(level.get('2026-10-30')).toBeGreaterThan(1.2 * (level.get('2026-10-23') ?? 0));
});

test('a renamed service keeps its id, and its earlier rows keep the previous name', async () => {
  const { ask } = await cloudServer();
  const id = serviceId('analytics-eu');
  const names = async (day: string) =>
    (await rowsOf(ask, day)).filter((row) => row.entityId === id).map((row) => row.entityName);
  expect(await names('2026-09-25')).toEqual(['reporting-eu']);
  expect(await names('2026-09-26')).toEqual(['analytics-eu']);
});

test.for([
  ['the day without data', '2026-10-04'],
  ['a day before the history', '2026-08-21'],
  ['tomorrow', '2026-11-21'],
])('%s has no rows, and a total of zero', async ([, day = '']) => {
  const { ask } = await cloudServer();
  const { status, json } = await report(ask, day, day);
  expect([status, json.result]).toEqual([200, { grandTotalCredits: 0, costs: [] }]);
});

test('a stopped service has no more compute costs, but its warehouse still has costs', async () => {
  const { ask, clock } = await cloudServer();
  const id = serviceId('analytics-prod');
  await ask('PATCH', `/services/${id}/state`, { command: 'stop' });
  clock.advance(2 * DAY_MS);
  const rows = await rowsOf(ask, '2026-11-21');
  expect(rows.filter((row) => row.serviceId === id)).toEqual([]);
  expect(ofEntity(rows, 'main')).toHaveLength(1);
  expect(ofEntity(rows, 'archive')).toEqual([]);
});

test('a created service appears in the report of its first day', async () => {
  const { ask, clock } = await cloudServer();
  const body = { name: 'brand new', provider: 'aws', region: 'eu-west-1' };
  await ask('POST', '/services', body);
  clock.advance(3_600_000);
  const rows = await rowsOf(ask, '2026-11-20');
  expect(ofEntity(rows, 'brand new').map(({ entityType }) => entityType)).toEqual([
    'datawarehouse',
    'service',
  ]);
  expect(ofEntity(await rowsOf(ask, '2026-11-19'), 'brand new')).toEqual([]);
});

const PERIOD = 'from_date=2026-10-01&to_date=2026-10-31';
test.for<[string, string, number, string | null]>([
  ['31 days', PERIOD, 200, null],
  ['one day', 'from_date=2026-10-01&to_date=2026-10-01', 200, null],
  ['32 days', 'from_date=2026-10-01&to_date=2026-11-01', 400, 'to_date must be at most 30 days'],
  ['an end before its start', 'from_date=2026-10-02&to_date=2026-10-01', 400, 'must not be before'],
  ['no start', 'to_date=2026-10-01', 400, 'from_date is required'],
  ['no end', 'from_date=2026-10-01', 400, 'to_date is required'],
  [
    'a date-time, as the contract says',
    'from_date=2026-10-01T00:00:00Z&to_date=2026-10-31T00:00:00Z',
    400,
    'BAD_REQUEST: 2026-10-01T00:00:00Z',
  ],
  ['a day that does not exist', 'from_date=2026-02-31&to_date=2026-03-01', 400, '2026-02-31'],
])('a report with the period %s', async ([, query, status, text]) => {
  const { ask } = await cloudServer();
  const answer = await ask('GET', `/usageCost?${query}`);
  expect(answer.status).toBe(status);
  if (text !== null) expect(answer.json.error).toContain(text);
});

test('a server that follows the contract accepts date-times but not dates', async () => {
  const { ask } = await cloudServer({ behaviour: { costDates: 'date-time' } });
  const midnights = 'from_date=2026-10-01T00:00:00Z&to_date=2026-10-31T00:00:00Z';
  expect((await ask('GET', `/usageCost?${midnights}`)).status).toBe(200);
  expect((await ask('GET', `/usageCost?${PERIOD}`)).status).toBe(400);
  const lastSecond = 'from_date=2026-10-01T00:00:00Z&to_date=2026-10-31T23:59:59Z';
  expect((await ask('GET', `/usageCost?${lastSecond}`)).status).toBe(400);
});

test.for<[Partial<CloudBehaviour>, number, string]>([
  [{ costDateRefusal: 'encoded value' }, 400, 'BAD_REQUEST: 2026-10-01T00%3A00%3A00Z'],
  [
    { costDateRefusal: 'field', costDateStatus: 422 },
    422,
    'UNPROCESSABLE_ENTITY: Invalid from_date',
  ],
  [{ costDateRefusal: 'no reason' }, 400, 'BAD_REQUEST'],
  [{ costDateRefusal: 'html' }, 400, ''],
])('a date in the wrong form is refused with %j', async ([behaviour, status, error]) => {
  const { ask } = await cloudServer({ behaviour });
  const query = 'from_date=2026-10-01T00:00:00Z&to_date=2026-10-31T00:00:00Z';
  const answer = await ask('GET', `/usageCost?${query}`);
  expect([answer.status, answer.json.error ?? '']).toEqual([status, error]);
});

test('a warehouse can have the id of one of its services', async () => {
  const { ask } = await cloudServer({ behaviour: { costWarehouseIds: 'of a service' } });
  const rows = await rowsOf(ask, '2026-11-10');
  const [warehouse] = ofEntity(rows, 'main');
  expect(warehouse?.entityId).toBe(serviceId('analytics-prod'));
  expect(ofEntity(rows, 'analytics-prod')[0]).toMatchObject({
    entityId: serviceId('analytics-prod'),
    dataWarehouseId: warehouse?.entityId,
  });
});
