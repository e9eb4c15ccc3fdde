import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { monthOf } from '../../src/base/calendar.ts';
import { daysBetween } from '../../src/base/time.ts';
import { dayStates } from '../../src/maths/days.ts';
import { allSeries, type By, GROUPINGS, seriesOf, sumBy } from '../../src/maths/lines.ts';
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
    expect(sumBy(rows, 'service', WEEK)).toEqual([
      {
        key: 's-1',
        name: 'analytics',
        total: microOf(75),
        money: null,
        share: 0.75,
        days: 3,
        preliminary: microOf(10),
        isOpen: true,
      },
      {
        key: 'warehouse w-1',
        name: 'warehouse main: storage + backup',
        total: microOf(25),
        money: null,
        share: 0.25,
        days: 1,
        preliminary: 0,
        isOpen: false,
      },
      {
        key: 's-9',
        name: 's-9',
        total: 0,
        money: null,
        share: 0,
        days: 1,
        preliminary: 0,
        isOpen: false,
      },
    ]);
  });

  test('the lines below the top are one line with their number', () => {
    const [, other, ...more] = sumBy(rows, 'service', WEEK, 1);
    expect(other).toMatchObject({
      key: 'other lines',
      name: 'Other (2)',
      total: microOf(25),
      days: 1,
    });
    expect(more).toEqual([]);
    expect(sumBy(rows, 'service', WEEK, 3)).toHaveLength(3);
  });
});

test.for<[By, readonly (readonly [string, string, number])[]]>([
  [
    'entity',
    [
      ['s-1', 'analytics-prod', 14],
      ['warehouse w-1', 'warehouse main: storage + backup', 5],
      ['pipe p-1', 'orders', 2],
    ],
  ],
  [
    'warehouse',
    [
      ['w-1', 'main', 19],
      ['no-warehouse', 'no warehouse named', 2],
    ],
  ],
  [
    'day',
    [
      ['2026-11-16', 'Mon 16 Nov', 8],
      ['2026-11-18', 'Wed 18 Nov', 13],
    ],
  ],
  ['week', [['2026-11-16', 'week of Mon 16 Nov', 21]]],
  ['month', [['2026-11', 'Nov 2026', 21]]],
  [
    'metric',
    [
      ['computeCredits', 'compute', 13],
      ['storageCredits', 'storage', 5],
      ['rest', 'not broken down', 3],
    ],
  ],
  [
    'entity-metric',
    [
      ['s-1 computeCredits', 'analytics-prod · compute', 13],
      ['warehouse w-1 storageCredits', 'main · storage', 5],
      ['pipe p-1 rest', 'orders · not broken down', 2],
      ['s-1 rest', 'analytics-prod · not broken down', 1],
    ],
  ],
])('by %s, each line has its key, its name and its sum', ([by, expected]) => {
  const rows = [
    row({ day: '2026-11-16', credits: 6, metrics: { computeCredits: microOf(5) } }),
    row({ day: '2026-11-18', credits: 8 }),
    warehouseRow({ day: '2026-11-18', credits: 5, metrics: { storageCredits: microOf(5) } }),
    pipeRow({ day: '2026-11-16', credits: 2, warehouseId: null, metrics: {} }),
  ];
  const lines = sumBy(rows, by, WEEK).map(({ key, name, total }) => [key, name, total / 1e6]);
  expect(lines).toEqual(expected);
});

test.for(['service', 'entity', 'entity-metric'] as const)(
  'by %s, a warehouse and a service with the same id have a line each',
  (by) => {
    const rows = [
      row({ credits: 100 }),
      warehouseRow({ entityId: 's-1', credits: 10 }),
      pipeRow({ entityId: 's-1', serviceId: null, credits: 1 }),
    ];
    expect(sumBy(rows, by, WEEK).map(({ total }) => total / 1e6)).toEqual([100, 10, 1]);
  },
);

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

test('by metric, the rounding of rows is a line too; by entity and metric, it has none', () => {
  const rows = [row({ credits: 1, metrics: { computeCredits: microOf(0.995) } })];
  const lines = (by: By) => sumBy(rows, by, WEEK).map(({ name, total }) => [name, total]);
  expect(lines('metric')).toEqual([
    ['compute', 995_000],
    ['rounding', 5_000],
  ]);
  expect(lines('entity-metric')).toEqual([['analytics-prod · compute', 995_000]]);
});

/** The sums again, by another way: one filter per line. */
function foldOf(rows: readonly CostRow[], by: 'entity' | 'day' | 'month'): Map<string, number> {
  const keyOf = {
    entity: ({ kind, entityId }: CostRow) => `${kind === 'service' ? '' : `${kind} `}${entityId}`,
    day: ({ day }: CostRow) => day,
    month: ({ day }: CostRow) => monthOf(day),
  }[by];
  const keys = [...new Set(rows.map(keyOf))];
  const sum = (key: string) =>
    rows.filter((one) => keyOf(one) === key).reduce((all, one) => all + BigInt(one.total), 0n);
  return new Map(keys.map((key) => [key, Number(sum(key))]));
}

test.for(['entity', 'day', 'month'] as const)(
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

test.for(GROUPINGS)('by %s, the lines add up to the total of the days, with any top', (by) => {
  fc.assert(
    fc.property(
      randomRows,
      spans,
      fc.option(fc.integer({ min: 1, max: 12 })),
      (rows, span, top) => {
        const lines = sumBy(rows, by, span, top);
        const sum = lines.reduce((all, line) => all + line.total, 0);
        const byDay = dayStates(rows, span).reduce((all, state) => all + state.total, 0);
        expect(sum).toBe(totalOf(rows, span));
        expect(byDay).toBe(totalOf(rows, span));
        expect(lines.length).toBeLessThanOrEqual((top ?? 200) + 1);
      },
    ),
  );
});

test('the order of the rows changes nothing', () => {
  const shuffled = randomRows.chain((rows) =>
    fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
  );
  const by = fc.constantFrom<By>(...GROUPINGS, 'entity-metric');
  fc.assert(
    fc.property(
      shuffled,
      spans,
      by,
      fc.option(fc.integer({ min: 1, max: 5 })),
      ([one, other], span, grouping, top) => {
        expect(sumBy(other, grouping, span, top)).toEqual(sumBy(one, grouping, span, top));
        expect(dayStates(other, span)).toEqual(dayStates(one, span));
        expect(allSeries(other, 'entity-metric', span)).toEqual(
          allSeries(one, 'entity-metric', span),
        );
        const compute = { metric: 'computeCredits' } as const;
        expect(seriesOf(other, compute, span)).toEqual(seriesOf(one, compute, span));
      },
    ),
  );
});
