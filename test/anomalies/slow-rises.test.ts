import { expect, test } from 'vitest';
import { judgeLine } from '../../src/anomalies/judge-line.ts';
import { isNewWeek, slowRises, slowRiseText } from '../../src/anomalies/slow-rises.ts';
import { at, line, steady } from './watched-line.ts';

const RAMP = Object.fromEntries(Array.from({ length: 30 }, (_, day) => [30 + day, 10 + day * 0.4]));
const LAST = { last: at(59), minImpact: 2 };

test('a rise over weeks is found once for an entity, by its metric', () => {
  const values = steady(60, RAMP);
  const total = line(values, { id: 'e1', metric: null, name: 'prod' });
  const { all } = slowRises([total, line(values)], [], LAST);
  expect(all.map(({ name }) => name)).toEqual(['prod · compute']);
  const [rise] = all;
  if (!rise) return expect.fail('no rise was found');
  expect(slowRiseText(rise, LAST.last, null)).toMatch(/^prod · compute rises slowly: \d/);
  const prices = [{ from: '2020-01-01', currency: 'EUR', perCredit: 500_000 }];
  const { now, before } = { ...rise, now: 12, before: 9.8 };
  expect(slowRiseText({ ...rise, now, before }, LAST.last, prices)).toBe(
    'prod · compute rises slowly: 12.0 (€6.00) per day in the last week, 9.8 (€4.90) in the four weeks before',
  );
});

test('a warehouse with the id of a rising service is found as well', () => {
  const values = steady(60, RAMP);
  const warehouse = line(values, { id: 'warehouse e1', kind: 'warehouse', name: 'warehouse main' });
  const { all } = slowRises([line(values), warehouse], [], LAST);
  expect(all.map(({ kind }) => kind)).toEqual(['service', 'warehouse']);
});

test('a usual line does not rise', () => {
  expect(slowRises([line(steady(60))], [], LAST).all).toEqual([]);
});

test('a reported incident is not also reported as a slow rise', () => {
  const shift = Object.fromEntries(Array.from({ length: 10 }, (_, day) => [50 + day, 30]));
  const grown = line(steady(60, shift));
  const { changed } = judgeLine(grown, [], { first: at(45), last: at(59), minImpact: 2 });
  expect(slowRises([grown], [], LAST).all).toHaveLength(1);
  expect(slowRises([grown], changed, LAST).all).toEqual([]);
});

test.for<[string | null, string, boolean]>([
  [null, '2026-11-20', true],
  ['2026-11-19', '2026-11-20', false],
  ['2026-11-22', '2026-11-23', true],
])('last run on %s, a new week on %s: %s', ([before, today, isNew]) => {
  expect(isNewWeek(before, today)).toBe(isNew);
});
