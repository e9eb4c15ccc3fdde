import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dayStates, selectRows } from '../../src/maths/days.ts';
import { allSeries, seriesOf, sumBy } from '../../src/maths/lines.ts';
import { microOf } from '../../src/maths/rows.ts';
import { daily, pipeRow, randomRows, row, spans, warehouseRow } from './rows.ts';

const WEEK = { first: '2026-11-16', last: '2026-11-19' };

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

  test('has the total of its rows', () => {
    expect(dayStates(rows, WEEK)[1]).toMatchObject({ total: microOf(5) });
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
  expect(selectRows(rows, selector)).toEqual(picked.map((index) => rows[index]));
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

  test('a metric that a row of the entity does not name is unknown, not 0', () => {
    const compute = { entities: ['w-1'], metric: 'computeCredits' } as const;
    expect(seriesOf(rows, compute, WEEK).map(({ day, value }) => [day, value])).toEqual([
      ['2026-11-16', 0],
      ['2026-11-19', 2],
    ]);
  });

  test('rows that name the metric are enough', () => {
    const [, second] = seriesOf(rows, { metric: 'computeCredits' }, WEEK);
    expect(second).toEqual({ day: '2026-11-17', value: 5, final: true });
  });

  test('the series of all lines add up to the series of all rows', () => {
    fc.assert(
      fc.property(randomRows, spans, (random, span) => {
        const lines = allSeries(random, 'service', span);
        expect(lines.map(({ key }) => key)).toEqual(
          sumBy(random, 'service', span)
            .map(({ key }) => key)
            .sort(),
        );
        const sum = (values: readonly { readonly value: number }[]) =>
          values.reduce((all, { value }) => all + value, 0);
        const all = sum(seriesOf(random, {}, span));
        expect(sum(lines.flatMap(({ values }) => values))).toBeCloseTo(all, 3);
      }),
    );
  });
});
