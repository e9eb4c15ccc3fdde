import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createReportReader,
  lostRows,
  mergeProblems,
  problemsOf,
  problemText,
  type ReportProblem,
  type ReportRow,
  type RowProblem,
} from '../../src/maths/report.ts';
import { METRICS, microOf } from '../../src/maths/rows.ts';

const NOVEMBER = { first: '2026-11-01', last: '2026-11-30' };

function reportRow(over: Partial<ReportRow> = {}): ReportRow {
  return {
    ...{ date: '2026-11-17', entityId: 's-1', entityName: 'analytics-prod', serviceId: 's-1' },
    ...{ entityType: 'service', dataWarehouseId: 'w-1', totalCredits: 12.5, locked: true },
    metrics: { computeCredits: 12.5, storageCredits: null },
    ...over,
  };
}

function read(costs: readonly ReportRow[], grandTotalCredits: number | null = null) {
  const reader = createReportReader(NOVEMBER);
  reader.add(costs);
  return reader.finish(grandTotalCredits);
}

const NO_NUMBER = { computeCredits: Number.NaN };
const withBackup = (backupCredits: number) => ({
  metrics: { computeCredits: 12.5, backupCredits },
});
const STORAGE = { storageCredits: 2, backupCredits: 0, computeCredits: 0 };

test('a row is read in millionths of a credit, and a missing metric is not zero', () => {
  const row = {
    ...{ day: '2026-11-17', entityId: 's-1', entityName: 'analytics-prod', kind: 'service' },
    ...{ serviceId: 's-1', warehouseId: 'w-1', metrics: { computeCredits: 12_500_000 } },
    ...{ total: 12_500_000, locked: true },
  };
  expect(read([reportRow()])).toEqual({ rows: [row], problems: [] });
});

/** A row without a kind. */
const unnamed = (over: Partial<ReportRow>) => ({ entityType: null, ...over });
const alone = (entityId: string, metrics: ReportRow['metrics']) =>
  unnamed({ serviceId: null, entityId, metrics });
const ofWarehouse = { kind: 'warehouse', serviceId: null };
const ofNobody = { kind: 'other', serviceId: null };
const gateway = { entityType: 'gateway', serviceId: null, entityId: 'g-9', entityName: 'eu' };
const sameId = unnamed({ dataWarehouseId: 's-1' });
const nowhere = { entityType: 'warehouse', entityId: 'w-7', dataWarehouseId: null };
const broken = ' prod\nTotal: 0\u202e\u2028x ';
const long = 'é'.repeat(500);

test.for<[string, Partial<ReportRow>, object]>([
  ['calls it a warehouse', { entityType: 'datawarehouse', entityId: 'w-1' }, ofWarehouse],
  ['names no kind and no service', alone('x-9', {}), { ...ofNobody, entityName: 'analytics-prod' }],
  ['names a kind that is unknown', gateway, { ...ofNobody, entityName: 'gateway eu' }],
  ['names nothing and bills compute', alone('s-9', { computeCredits: 12.5 }), ofNobody],
  ['names nothing and bills data transfer', alone('p-9', { dataTransferCredits: 1 }), ofNobody],
  ['names nothing and bills storage', alone('w-9', STORAGE), { kind: 'warehouse' }],
  ['names the id of the warehouse', unnamed({ entityId: 'w-1', metrics: {} }), ofWarehouse],
  ['names the same id three times, and bills compute', sameId, { kind: 'service' }],
  ['names it three times, and bills storage', { ...sameId, metrics: STORAGE }, ofWarehouse],
  ['names no kind and the entity is its service', { entityType: null }, { kind: 'service' }],
  ['names another service', unnamed({ entityId: 'p-1' }), { kind: 'pipe', serviceId: 's-1' }],
  ['calls it a pipe', { entityType: 'PIPE', entityId: 's-1' }, { kind: 'pipe' }],
  ['names no service of a service', { serviceId: null }, { kind: 'service', serviceId: 's-1' }],
  ['names no warehouse in a row of one', nowhere, { warehouseId: 'w-7' }],
  ['writes the day as its first instant', { date: '2026-11-17T00:00:00Z' }, { day: '2026-11-17' }],
  ['has no name for the entity', { entityName: null }, { entityName: 's-1' }],
  ['has an empty name for the entity', { entityName: '' }, { entityName: 's-1' }],
  ['breaks and turns a name', { entityName: broken }, { entityName: 'prod Total: 0 x' }],
  ['has a name without end', { entityName: long }, { entityName: `${'é'.repeat(99)}…` }],
  ['does not say whether the row is final', { locked: null }, { locked: false }],
  [
    'gives no total',
    { totalCredits: null, metrics: { computeCredits: 1, backupCredits: 2 } },
    { total: 3_000_000 },
  ],
  ['has metrics that are no numbers', { metrics: NO_NUMBER }, { metrics: {}, total: 12_500_000 }],
  ['takes credits back', { totalCredits: -2, metrics: { computeCredits: -2 } }, { total: -2e6 }],
])('the row is understood when the server %s', ([, over, expected]) => {
  expect(read([reportRow(over)]).rows).toEqual([expect.objectContaining(expected)]);
});

test.for<[string, Partial<ReportRow>, string, number]>([
  ['no day', { date: null }, 'without-day', 0],
  ['a day that does not exist', { date: '2026-02-30' }, 'without-day', 0],
  ['an hour of a day', { date: '2026-11-17T09:00:00Z' }, 'without-day', 0],
  ['no entity', { entityId: null }, 'without-entity', 0],
  ['an empty id', { entityId: '' }, 'without-entity', 0],
  ['no figures at all', { totalCredits: null, metrics: null }, 'without-figures', 0],
  ['no number in place of a total', { totalCredits: NaN, metrics: {} }, 'without-figures', 0],
  ['only metrics', { totalCredits: null }, 'without-total', 1],
  ['an infinite metric', withBackup(Number.POSITIVE_INFINITY), 'not-a-number', 1],
  ['a metric beyond all reason', withBackup(1e10), 'not-a-number', 1],
  ['metrics that miss their total', { totalCredits: 12.506 }, 'metrics-off', 1],
])('a row with %s is counted', ([, over, name, rows]) => {
  const report = read([reportRow(over)]);
  expect(report.problems).toMatchObject([{ name, count: 1 }]);
  expect(report.rows).toHaveLength(rows);
});

test('metrics within the tolerance of 0.005 are not a problem', () => {
  expect(read([reportRow({ totalCredits: 12.505 })]).problems).toEqual([]);
});

test('two rows of one entity and day add up, as the grand total proves', () => {
  const twice = read(
    [
      reportRow({ locked: true }),
      reportRow({ entityId: 's-2' }),
      reportRow({ totalCredits: 7, metrics: { computeCredits: 7 }, locked: false }),
    ],
    32,
  );
  expect(twice.rows).toMatchObject([
    { entityId: 's-1', total: 19_500_000, locked: false },
    { entityId: 's-2', total: 12_500_000 },
  ]);
  expect(twice.problems).toEqual([]);
});

test('rows whose costs cannot be read are counted, because the sum of their day is not known', () => {
  const { problems } = read([
    reportRow({ totalCredits: Number.NaN, metrics: { computeCredits: Number.NaN } }),
    reportRow({ date: '2026-11-18', totalCredits: 7 }),
  ]);
  const on = (day: string) => lostRows(problems, { first: day, last: day });
  expect([on('2026-11-17'), on('2026-11-18')]).toEqual([1, 0]);
});

test('a warehouse, a service and a pipe with the same id are three rows', () => {
  const { rows, problems } = read(
    [
      reportRow({ totalCredits: 100, metrics: {} }),
      reportRow({ entityType: 'datawarehouse', totalCredits: 10, metrics: {} }),
      reportRow({ entityType: 'pipe', totalCredits: 1, metrics: {} }),
    ],
    111,
  );
  expect(rows.map(({ kind, total }) => [kind, total / 1e6])).toEqual([
    ['service', 100],
    ['warehouse', 10],
    ['pipe', 1],
  ]);
  expect(problems).toEqual([]);
});

describe('the grand total', () => {
  test.for<[string, number | null]>([
    ['is what the rows add up to', 25],
    ['is off by rounding in each of two rows', 25.0099],
    ['is missing', null],
    ['is not a number', Number.NaN],
  ])('is not a problem when it %s', ([, grand]) => {
    expect(read([reportRow(), reportRow({ entityId: 's-2' })], grand).problems).toEqual([]);
  });

  test('is shown next to the sum when the two differ', () => {
    const { problems } = read([reportRow(), reportRow({ entityId: 's-2' })], 4_025.02);
    const text = 'figures of November 2026 do not add up (25.0 vs 4,025.0)';
    expect(problems.map(problemText)).toEqual([text]);
  });

  test('of a report without rows must be zero', () => {
    expect(read([], 0)).toEqual({ rows: [], problems: [] });
    expect(read([], 0.005).problems).toEqual([]);
    expect(read([], 3).problems).toHaveLength(1);
  });
});

function fault(over: Partial<RowProblem> = {}): RowProblem {
  return { name: 'without-figures', day: '2026-11-17', count: 1, ...over };
}

function wordsOf(problems: readonly ReportProblem[]): readonly string[] {
  return mergeProblems(problems).map(problemText);
}

test('problems of several replies are counted together and shown as text', () => {
  const of = { first: '2026-11-01', last: '2026-11-20' };
  const off = { name: 'grand-total-off', counted: microOf(1), reported: microOf(2), of } as const;
  expect(wordsOf([fault(), off, fault({ day: '2026-11-18', count: 2 })])).toEqual([
    '3 rows without any figure: left out',
    'figures of 1–20 Nov do not add up (1.0 vs 2.0)',
  ]);
});

test('a figure that is not a number is named, and left out of the total', () => {
  const metrics = { computeCredits: Number.NaN, backupCredits: 2 };
  const { rows, problems } = read([reportRow({ metrics, totalCredits: 12.5 })]);
  expect(rows).toMatchObject([{ metrics: { backupCredits: 2_000_000 }, total: 12_500_000 }]);
  const told = ['1 row with a figure that is not a number: it is left out'];
  expect(wordsOf(problems)).toEqual(told);

  const summed = read([reportRow({ totalCredits: Number.NaN })]);
  expect(summed.rows).toMatchObject([{ total: 12_500_000 }]);
  expect(wordsOf(summed.problems)).toEqual(told);
});

test('only the problems of the shown days and those without a day are shown', () => {
  const { problems } = read([
    reportRow({ totalCredits: null }),
    reportRow({ date: '2026-11-18', totalCredits: null }),
    reportRow({ date: '2026-11-19', metrics: { computeCredits: 1 } }),
    reportRow({ date: null }),
  ]);
  const shown = problemsOf(problems, [
    { first: '2026-11-18', last: '2026-11-18' },
    { first: '2026-11-02', last: '2026-11-02' },
  ]);
  expect(wordsOf(shown)).toEqual([
    '1 row without a total: their metrics were summed',
    '1 row without a day: left out',
  ]);
});

const anyNumber = fc.option(fc.oneof(fc.double(), fc.constantFrom(0, -1, Number.NaN)));
const anyRow: fc.Arbitrary<ReportRow> = fc.record({
  date: fc.option(fc.constantFrom('2026-11-01', '2026-11-30', '2026-12-01', 'soon', '')),
  entityId: fc.option(fc.constantFrom('a', 'b', '')),
  entityName: fc.option(fc.string()),
  entityType: fc.option(fc.constantFrom('service', 'pipe', 'datawarehouse', 'thing')),
  serviceId: fc.option(fc.constantFrom('a', 'c')),
  dataWarehouseId: fc.option(fc.constant('w')),
  metrics: fc.option(fc.dictionary(fc.constantFrom(...METRICS, 'other'), anyNumber)),
  totalCredits: anyNumber,
  locked: fc.option(fc.boolean()),
});

test('for any reply, rows are one per day, kind and id, within the days, in whole numbers', () => {
  fc.assert(
    fc.property(fc.array(anyRow), anyNumber, (costs, grand) => {
      const { rows } = read(costs, grand);
      const keys = rows.map(({ day, kind, entityId }) => `${day} ${kind} ${entityId}`);
      expect(new Set(keys).size).toBe(keys.length);
      expect(rows.filter(({ day }) => day < '2026-11-01' || day > '2026-11-30')).toEqual([]);
      expect(rows.filter(({ total }) => !Number.isSafeInteger(total))).toEqual([]);
    }),
  );
});
