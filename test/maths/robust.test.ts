import { expect, test } from 'vitest';
import { mad, median, normalShare, quantile } from '../../src/maths/numbers.ts';

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

test.for<[number, number, number]>([
  [0, 1, 0.5],
  [1.2816, 1, 0.9],
  [-1.2816, 1, 0.1],
  [-10, 0, 0],
  [10, 0, 1],
])(
  'of a normal distribution with mean %d and deviation %d, %d is above 0',
  ([mean, deviation, share]) => {
    expect(normalShare(mean, deviation)).toBeCloseTo(share, 4);
  },
);
