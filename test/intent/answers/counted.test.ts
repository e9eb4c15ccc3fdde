import { expect, test } from 'vitest';
import { counted } from '../../../src/intent/answers/counted.ts';

test('what is counted agrees with its number, and what follows does as well', () => {
  const older = (count: number) => counted(count, 'older one follows', 'older ones follow');
  expect([0, 1, 2].map((count) => counted(count, 'event'))).toEqual([
    '0 events',
    '1 event',
    '2 events',
  ]);
  expect([1, 2].map(older)).toEqual(['1 older one follows', '2 older ones follow']);
});
