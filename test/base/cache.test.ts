import { expect, test } from 'vitest';
import { Cache, cached } from '../../src/base/cache.ts';

test('a full cache drops its oldest value, so that it does not grow', () => {
  const cache = new Cache<number, string>(2);
  for (const key of [1, 2]) cache.set(key, `value ${key}`);
  expect([1, 2].map((key) => cache.get(key))).toEqual(['value 1', 'value 2']);
  cache.set(3, 'value 3');
  expect([1, 2, 3].map((key) => cache.get(key))).toEqual([undefined, 'value 2', 'value 3']);
  cache.set(2, 'newer').set(4, 'value 4');
  expect([...cache]).toEqual([
    [2, 'newer'],
    [4, 'value 4'],
  ]);
});

test('a cached function computes each of its last results once', () => {
  const computed: number[] = [];
  const double = cached(2, (key: number) => {
    computed.push(key);
    return key * 2;
  });
  expect([1, 2, 1, 2].map(double)).toEqual([2, 4, 2, 4]);
  expect(computed).toEqual([1, 2]);
  expect([3, 1].map(double)).toEqual([6, 2]);
  expect(computed).toEqual([1, 2, 3, 1]);
});
