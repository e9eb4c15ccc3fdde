import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hodgesLehmann, mad, median, quantile, winsorisedMean } from '../../src/maths/numbers.ts';

const costs = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), {
  minLength: 1,
  maxLength: 40,
});

test.for<[string, number[], number, number]>([
  ['the middle of three', [9, 1, 5], 0.5, 5],
  ['between the two in the middle', [1, 2, 4, 100], 0.5, 3],
  ['a quarter of the way', [0, 10, 20, 30, 40], 0.25, 10],
  ['between two ranks', [0, 10], 0.9, 9],
  ['the only value', [7], 0.1, 7],
  ['the logarithm of nothing', [Number.NEGATIVE_INFINITY, 1, 2], 0, Number.NEGATIVE_INFINITY],
])('a quantile is %s', ([, values, share, expected]) => {
  expect(quantile(values, share)).toBe(expected);
});

test('there is no median without values', () => {
  expect(median([])).toBeNaN();
});

test('a spike does not change the median deviation', () => {
  expect(mad([8, 9, 10, 11, 12])).toBe(1);
  expect(mad([8, 9, 10, 11, 1_200])).toBe(1);
});

test('if most days are equal, the others still count', () => {
  expect(mad([10, 10, 10, 10, 60])).toBe(0);
  expect(winsorisedMean([10, 10, 10, 10, 60])).toBeCloseTo((50 + 3 * 12.533) / 5, 3);
  expect(winsorisedMean([10, 10, 10])).toBe(10);
});

test('a spike counts in the mean as a day at the limit of usual days', () => {
  const usual = [9, 10, 11, 9, 10, 11, 9, 10, 11];
  expect(winsorisedMean(usual)).toBeCloseTo(10);
  const edge = 10 + 2 * 1.4826;
  expect(winsorisedMean([...usual, 500])).toBeCloseTo((90 + edge) / 10);
});

test('days with costs count even if most days have none', () => {
  expect(winsorisedMean([0, 0, 0, 0, 0, 0, 0, 20, 20, 20])).toBeCloseTo(6);
});

test('a mean is between the minimum and the maximum', () => {
  fc.assert(
    fc.property(costs, (values) => {
      const value = winsorisedMean(values);
      expect(value).toBeGreaterThanOrEqual(Math.min(...values) - 1e-6);
      expect(value).toBeLessThanOrEqual(Math.max(...values) + 1e-6);
    }),
  );
});

test('the shift is the median of all differences, between its ranks', () => {
  const before = [10, 11, 12, 13, 14, 15, 16];
  const after = [20, 21, 22];
  // 21 differences from 4 to 12; rank = ⌊10.5 − 1.645 · √(21 · 11 / 12)⌋ = 3.
  expect(hodgesLehmann(before, after)).toEqual({ by: 8, low: 5, high: 11 });
});

test('two single days have an interval too', () => {
  expect(hodgesLehmann([4], [9])).toEqual({ by: 5, low: 5, high: 5 });
});

test('the shift follows its values, and swapped samples change its sign', () => {
  fc.assert(
    fc.property(costs, costs, fc.integer({ min: -1_000, max: 1_000 }), (before, after, by) => {
      const shift = hodgesLehmann(before, after);
      const moved = hodgesLehmann(
        before,
        after.map((value) => value + by),
      );
      const turned = hodgesLehmann(after, before);
      expect(moved.by).toBeCloseTo(shift.by + by, 4);
      expect(turned.by).toBeCloseTo(-shift.by, 4);
      expect(turned.low).toBeCloseTo(-shift.high, 4);
    }),
  );
});
