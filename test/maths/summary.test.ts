import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { monthOf } from '../../src/base/calendar.ts';
import { daysBetween } from '../../src/base/time.ts';
import { dayStates } from '../../src/maths/days.ts';
import { allSeries, GROUPINGS, type Grouping, seriesOf, sumBy } from '../../src/maths/lines.ts';
import { type CostRow, microOf } from '../../src/maths/rows.ts';
import { pipeRow, randomRows, row, spans, totalOf, warehouseRow } from './rows.ts';

const WEEK = { first: '2026-11-16', last: '2026-11-19' };

describe('by service', () => {
  const rows = [
    row({ credits: 60 }),
    pipeRow({ day: '2026-11-19', credits: 10, locked: false }),
    warehouseRow({ credits: 25 }),
    row({ day: '2026-11-18', credits: 5, entityName: 'analytics' }),
    pipeRow({ entityId: 'p-9', serviceId: 's-9', entityName: 'events', credits: 0 }),
    row({ day: '2026-11-20', credits: 1000 }),
  ];

  test('pipes count for their service, and the warehouse has its own line', () => {
    const ofWarehouse = { key: 'warehouse w-1', name: 'warehouse main: storage + backup' };
    expect(sumBy(rows, 'service', WEEK)).toEqual([
      { key: 's-1', name: 'analytics', total: microOf(75), share: 0.75, days: 3 },
      { ...ofWarehouse, total: microOf(25), share: 0.25, days: 1 },
      { key: 's-9', name: 's-9', total: 0, share: 0, days: 1 },
    ]);
  });
});

test.for<[Grouping, readonly string[]]>([
  ['warehouse', ['w-1: main 19', 'no-warehouse: no warehouse named 2']],
  ['day', ['2026-11-16: Mon 16 Nov 8', '2026-11-18: Wed 18 Nov 13']],
  ['week', ['2026-11-16: week of Mon 16 Nov 21']],
  ['month', ['2026-11: Nov 2026 21']],
  [
    'metric',
    ['computeCredits: compute 13', 'storageCredits: storage 5', 'rest: not broken down 3'],
  ],
])('by %s, each line has its key, its name and its sum', ([by, expected]) => {
  const rows = [
    row({ day: '2026-11-16', credits: 6, metrics: { computeCredits: microOf(5) } }),
    row({ day: '2026-11-18', credits: 8 }),
    warehouseRow({ day: '2026-11-18', credits: 5, metrics: { storageCredits: microOf(5) } }),
    pipeRow({ day: '2026-11-16', credits: 2, warehouseId: null, metrics: {} }),
  ];
  const lines = sumBy(rows, by, WEEK).map(
    ({ key, name, total }) => `${key}: ${name} ${total / 1e6}`,
  );
  expect(lines).toEqual(expected);
});

test('a warehouse and a service with the same id have a line each', () => {
  const rows = [
    row({ credits: 100 }),
    warehouseRow({ entityId: 's-1', credits: 10 }),
    pipeRow({ entityId: 's-1', serviceId: null, credits: 1 }),
  ];
  expect(sumBy(rows, 'service', WEEK).map(({ total }) => total / 1e6)).toEqual([100, 10, 1]);
});

test('a metric and a type that Signalbox does not know keep their names', () => {
  const metrics = { computeCredits: microOf(1), gpuCredits: microOf(4) };
  const rows = [
    row({ credits: 5, metrics }),
    row({ kind: 'other', entityId: 'g-1', entityName: 'gateway eu', credits: 2, metrics: {} }),
  ];
  const named = (by: Grouping) =>
    sumBy(rows, by, WEEK).map(({ name, total }) => `${name} ${total / 1e6}`);
  expect(named('metric')).toEqual(['gpu 4', 'not broken down 2', 'compute 1']);
  expect(named('service')).toEqual(['analytics-prod 5', 'gateway eu 2']);
});

test('a line without cost has no share', () => {
  expect(sumBy([row({ credits: 0 })], 'service', WEEK)).toMatchObject([{ total: 0, share: null }]);
});

test('the order of two names of one day does not matter', () => {
  const rows = [
    warehouseRow({ entityName: 'a' }),
    warehouseRow({ entityId: 'w-0', entityName: 'b' }),
  ];
  expect(sumBy(rows, 'warehouse', WEEK)).toMatchObject([{ name: 'b' }]);
  expect(sumBy(rows.toReversed(), 'warehouse', WEEK)).toMatchObject([{ name: 'b' }]);
});

/** The sums again, by another way: one filter per line. */
function foldOf(rows: readonly CostRow[], by: 'day' | 'month'): Map<string, number> {
  const keyOf = {
    day: ({ day }: CostRow) => day,
    month: ({ day }: CostRow) => monthOf(day),
  }[by];
  const keys = [...new Set(rows.map(keyOf))];
  const sum = (key: string) =>
    rows.filter((one) => keyOf(one) === key).reduce((all, one) => all + BigInt(one.total), 0n);
  return new Map(keys.map((key) => [key, Number(sum(key))]));
}

test.for(['day', 'month'] as const)(
  'the sums by %s are an independent fold, to the millionth',
  (by) => {
    fc.assert(
      fc.property(randomRows, spans, (rows, span) => {
        const own = rows.filter(({ day }) => daysBetween(span.first, span.last).includes(day));
        const lines = sumBy(rows, by, span).map(({ key, total }) => [key, total] as const);
        expect(new Map(lines)).toEqual(foldOf(own, by));
        expect(lines).toHaveLength(foldOf(own, by).size);
      }),
    );
  },
);

test.for(GROUPINGS)('by %s, the lines add up to the total of the days', (by) => {
  fc.assert(
    fc.property(randomRows, spans, (rows, span) => {
      const lines = sumBy(rows, by, span);
      const sum = lines.reduce((all, line) => all + line.total, 0);
      const byDay = dayStates(rows, span).reduce((all, state) => all + state.total, 0);
      expect(sum).toBe(totalOf(rows, span));
      expect(byDay).toBe(totalOf(rows, span));
    }),
  );
});

test('the order of the rows changes nothing', () => {
  const shuffled = randomRows.chain((rows) =>
    fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
  );
  const by = fc.constantFrom<Grouping>(...GROUPINGS);
  fc.assert(
    fc.property(shuffled, spans, by, ([one, other], span, grouping) => {
      expect(sumBy(other, grouping, span)).toEqual(sumBy(one, grouping, span));
      expect(dayStates(other, span)).toEqual(dayStates(one, span));
      expect(allSeries(other, 'service', span)).toEqual(allSeries(one, 'service', span));
      const compute = { metric: 'computeCredits' } as const;
      expect(seriesOf(other, compute, span)).toEqual(seriesOf(one, compute, span));
    }),
  );
});
