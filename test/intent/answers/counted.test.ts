import { expect, test } from 'vitest';
import { countWords } from '../../../src/intent/answers/counted.ts';

test('what is counted agrees with its number, and what follows does as well', () => {
  const older = (count: number) => countWords(count, 'older one follows', 'older ones follow');
  expect([0, 1, 2].map((count) => countWords(count, 'event'))).toEqual([
    '0 events',
    '1 event',
    '2 events',
  ]);
  expect([1, 2].map(older)).toEqual(['1 older one follows', '2 older ones follow']);
});
