import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { monthOf } from '../../src/costs/calendar.ts';
import { allSeries, seriesOf } from '../../src/costs/daily.ts';
import { addDays, daysBetween } from '../../src/costs/day.ts';
import { type By, GROUPINGS } from '../../src/costs/grouping.ts';
import { dayStates, finalRows, lastFinalDay, selected, total } from '../../src/costs/ledger.ts';
import { type CostRow, microOf } from '../../src/costs/row.ts';
import { sumBy } from '../../src/costs/summary.ts';
import { daily, days, pipeRow, randomRows, row, warehouseRow } from './rows.ts';

const WEEK = { first: '2026-11-16', last: '2026-11-19' };
const spans = fc.tuple(days, fc.nat(60)).map(([first, more]) => ({
  first,
  last: addDays(first, more),
}));

describe('a day', () => {
  const rows = [
    row({ day: '2026-11-16' }),
    row({ day: '2026-11-17', credits: 3 }),
    warehouseRow({ day: '2026-11-17', credits: 2, locked: false }),
    row({ day: '2026-11-19', credits: 0, locked: false }),
  ];

  test('is final with all rows locked, preliminary with one open, and no data is not zero', () => {
    expect(dayStates(rows, WEEK).map(({ day, state }) => [day, state])).toEqual([
      ['2026-11-16', 'final'],
      ['2026-11-17', 'preliminary'],
      ['2026-11-18', 'no-data'],
      ['2026-11-19', 'preliminary'],
    ]);
  });

  test('has the total of its rows, and of those the part that can still change', () => {
    expect(dayStates(rows, WEEK)[1]).toMatchObject({
      rows: 2,
      openRows: 1,
      total: microOf(5),
      preliminary: microOf(2),
    });
  });

  test('is the last final one whatever came before it, and none where none is', () => {
    expect(lastFinalDay(dayStates(rows, WEEK))).toBe('2026-11-16');
    expect(lastFinalDay(dayStates(rows, { ...WEEK, first: '2026-11-17' }))).toBeNull();
    const later = [...rows, row({ day: '2026-11-18' })];
    expect(lastFinalDay(dayStates(later, WEEK))).toBe('2026-11-18');
  });

  test('that is not final is left out with all its rows', () => {
    expect(finalRows(rows, dayStates(rows, WEEK))).toEqual([rows[0]]);
  });
});

test.for<[string, object, readonly number[]]>([
  ['nothing in particular', {}, [0, 1, 2, 3]],
  ['a service and its pipes', { services: ['s-1'] }, [1, 2]],
  ['a warehouse and all within it', { warehouses: ['w-1'] }, [0, 1, 2]],
  ['one entity', { entities: ['p-1'] }, [2]],
  ['a service in another warehouse', { services: ['s-1'], warehouses: ['w-2'] }, []],
  ['no service', { services: [] }, []],
])('a selector picks %s', ([, selector, picked]) => {
  const rows = [warehouseRow(), row(), pipeRow(), row({ entityId: 's-2', warehouseId: null })];
  expect(selected(rows, selector)).toEqual(picked.map((index) => rows[index]));
});

describe('by service', () => {
  const rows = [
    row({ credits: 60 }),
    pipeRow({ day: '2026-11-19', credits: 10, locked: false }),
    warehouseRow({ credits: 25 }),
    row({ day: '2026-11-18', credits: 5, entityName: 'analytics' }),
    pipeRow({ entityId: 'p-9', serviceId: 's-9', entityName: 'events', credits: 0 }),
    row({ day: '2026-11-20', credits: 1000 }),
  ];

  test('pipes count to their service, and the warehouse keeps a line of its own', () => {
    expect(sumBy(rows, 'service', WEEK)).toEqual([
      {
        key: 's-1',
        name: 'analytics',
        total: microOf(75),
        share: 0.75,
        days: 3,
        preliminary: microOf(10),
      },
      {
        key: 'w-1',
        name: 'warehouse main: storage + backup',
        total: microOf(25),
        share: 0.25,
        days: 1,
        preliminary: 0,
      },
      { key: 's-9', name: 's-9', total: 0, share: 0, days: 1, preliminary: 0 },
    ]);
  });

  test('the rest of a top is one line that says of how many', () => {
    const [, other, ...more] = sumBy(rows, 'service', WEEK, 1);
    expect(other).toMatchObject({ key: 'other', name: 'Other (2)', total: microOf(25), days: 1 });
    expect(more).toEqual([]);
    expect(sumBy(rows, 'service', WEEK, 3)).toHaveLength(3);
  });
});

test.for<[By, readonly (readonly [string, string, number])[]]>([
  [
    'entity',
    [
      ['s-1', 'analytics-prod', 14],
      ['w-1', 'warehouse main: storage + backup', 5],
      ['p-1', 'orders', 2],
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
  ['month', [['2026-11', '2026-11', 21]]],
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
      ['w-1 storageCredits', 'main · storage', 5],
      ['p-1 rest', 'orders · not broken down', 2],
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

test('what cost nothing has no share', () => {
  expect(sumBy([row({ credits: 0 })], 'service', WEEK)).toMatchObject([{ total: 0, share: null }]);
});

test('two names told on the same day are no matter of which was told first', () => {
  const rows = [
    warehouseRow({ entityName: 'a' }),
    warehouseRow({ entityId: 'w-0', entityName: 'b' }),
  ];
  expect(sumBy(rows, 'warehouse', WEEK)).toMatchObject([{ name: 'b' }]);
  expect(sumBy(rows.toReversed(), 'warehouse', WEEK)).toMatchObject([{ name: 'b' }]);
});

test('rounding within a row is no line of its own', () => {
  const rows = [row({ credits: 1, metrics: { computeCredits: microOf(0.995) } })];
  expect(sumBy(rows, 'metric', WEEK).map(({ key }) => key)).toEqual(['computeCredits']);
});

describe('day by day', () => {
  const rows = [
    ...daily('2026-11-16', [4, 5]),
    warehouseRow({ day: '2026-11-17', credits: 1, metrics: {} }),
    warehouseRow({ day: '2026-11-19', credits: 2, locked: false }),
  ];

  test('a service without a row costs 0 on a day with rows, and a day without any is absent', () => {
    expect(seriesOf(rows, { services: ['s-1'] }, WEEK)).toEqual([
      { day: '2026-11-16', value: 4, final: true },
      { day: '2026-11-17', value: 5, final: true },
      { day: '2026-11-19', value: 0, final: false },
    ]);
  });

  test('a metric that is not named where the entity has a row is unknown, not 0', () => {
    const compute = { entities: ['w-1'], metric: 'computeCredits' } as const;
    expect(seriesOf(rows, compute, WEEK).map(({ day, value }) => [day, value])).toEqual([
      ['2026-11-16', 0],
      ['2026-11-19', 2],
    ]);
  });

  test('of several rows those that name the metric are enough', () => {
    const [, second] = seriesOf(rows, { metric: 'computeCredits' }, WEEK);
    expect(second).toEqual({ day: '2026-11-17', value: 5, final: true });
  });

  test('all lines at once are what each line is alone', () => {
    fc.assert(
      fc.property(randomRows, spans, (random, span) => {
        const lines = sumBy(random, 'entity', span);
        const keys = allSeries(random, 'entity', span).map(({ key }) => key);
        expect(keys).toEqual(lines.map(({ key }) => key).sort());
        for (const { key, values } of allSeries(random, 'entity', span)) {
          expect(values).toEqual(seriesOf(random, { entities: [key] }, span));
        }
      }),
    );
  });
});

/** The sums again, by another way: one filter per line. */
function foldOf(rows: readonly CostRow[], by: 'entity' | 'day' | 'month'): Map<string, number> {
  const keyOf = {
    entity: ({ entityId }: CostRow) => entityId,
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

test.for(GROUPINGS)('by %s, the lines add up to what the days cost, with any top', (by) => {
  fc.assert(
    fc.property(
      randomRows,
      spans,
      fc.option(fc.integer({ min: 1, max: 12 })),
      (rows, span, top) => {
        const lines = sumBy(rows, by, span, top);
        const rounding = by === 'metric' ? rows.length * 5000 : 0;
        const sum = lines.reduce((all, line) => all + line.total, 0);
        const byDay = dayStates(rows, span).reduce((all, state) => all + state.total, 0);
        expect(Math.abs(sum - total(rows, span))).toBeLessThanOrEqual(rounding);
        expect(byDay).toBe(total(rows, span));
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
