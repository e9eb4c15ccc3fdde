import { expect, test } from 'vitest';
import { quantile } from '../../src/maths/numbers.ts';
import {
  finalOnly,
  lateFalseAlarms,
  lateOrganization,
  lateRecall,
  watched,
} from './synthetic-locking.ts';

const organizations = [1, 2].map((seed) => lateOrganization(seed, { days: 12, isUneven: true }));
const recall = (found: readonly (number | null)[]) =>
  found.filter((delay) => delay !== null).length / found.length;

// The gates of `npm run bench -- costs`, here with few lines.
test('with days that lock after twelve days, in batches and with stragglers, a drop is found in time', () => {
  const found = lateRecall(1, organizations, watched, 'drop to 0');
  expect(recall(found)).toBeGreaterThanOrEqual(0.95);
  expect(
    quantile(
      found.map((delay) => delay ?? 99),
      0.9,
    ),
  ).toBeLessThanOrEqual(7);
  expect(recall(lateRecall(1, organizations, finalOnly, 'drop to 0'))).toBeLessThan(0.05);
});

test('with days that lock after twelve days, a change of ×2 is found on the next day', () => {
  const found = lateRecall(1, organizations, watched, '×2');
  expect(recall(found)).toBeGreaterThanOrEqual(0.8);
  expect(
    quantile(
      found.flatMap((delay) => delay ?? []),
      0.5,
    ),
  ).toBe(1);
});

test('with days that lock after twelve days, false alarms stay rare', () => {
  const { notices, alerts } = lateFalseAlarms(organizations, watched);
  expect(notices).toBeLessThanOrEqual(13);
  expect(alerts).toBeLessThanOrEqual(4);
});
