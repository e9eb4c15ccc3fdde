import { expect, test } from 'vitest';
import { quarter } from '../../bench/standing-quarter.ts';

test('a seeded quarter has a hundred requests per day, the same for the same seed, and the share of repeats', () => {
  const made = quarter({ seed: 7, days: 14, repeats: 0.5 });
  expect(quarter({ seed: 7, days: 14, repeats: 0.5 })).toEqual(made);
  expect(made.services).toHaveLength(20);
  const requests = made.events.flatMap((event) => (event.kind === 'request' ? [event] : []));
  expect(requests).toHaveLength(1_400);
  const repeated = requests.filter(({ habit }) => habit !== null).length / requests.length;
  expect(repeated).toBeCloseTo(0.5, 1);
});
