import { expect, test } from 'vitest';
import { acknowledgements, median, percentile } from '../../bench/figures.ts';
import type { Exchange } from '../../bench/load.ts';

const HUNDRED = Array.from({ length: 100 }, (_, index) => 100 - index);

test.for<[string, number, number]>([
  ['half of all', 0.5, 50],
  ['all but one in a hundred', 0.99, 99],
  ['all', 1, 100],
  ['hardly any', 0.001, 1],
])('the percentile of %s is a value that was seen', ([, share, value]) => {
  expect(percentile(HUNDRED, share)).toBe(value);
});

test.for<[string, number[], number]>([
  ['one round', [7], 7],
  ['an odd count', [9, 1, 5], 5],
  ['an even count', [10, 1, 3, 2], 2.5],
])('the median of %s', ([, values, expected]) => {
  expect(median(values)).toBe(expected);
});

test('of nothing nothing is claimed', () => {
  expect(percentile([], 0.99)).toBeNaN();
  expect(median([])).toBeNaN();
});

function exchange(ms: number, outcome = '200'): Exchange {
  return { outcome, ms, lateMs: 0.5 };
}

test('a command that was refused or lost counts, and so does its time', () => {
  const seen = acknowledgements([
    exchange(2),
    exchange(1_000),
    exchange(3_000, '404'),
    exchange(10_000, 'UND_ERR_HEADERS_TIMEOUT'),
  ]);
  expect(seen).toEqual({
    ackP50Ms: 1_000,
    ackP99Ms: 10_000,
    ackMaxMs: 10_000,
    not200: 2,
    over1s: 2,
    lateP99Ms: 0.5,
  });
});
