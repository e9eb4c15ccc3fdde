import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DayValue } from '../../src/maths/rows.ts';
import { FLAT, factorOn, historyOf, knownDays, profileOf } from '../../src/maths/statistics.ts';
import { chance, finalDays } from './rows.ts';

const MONDAY = '2026-03-02';

function weekdayProfile(series: readonly DayValue[]) {
  return profileOf(knownDays(series));
}

function weeks(count: number, week: readonly number[]): readonly number[] {
  return Array.from({ length: count * 7 }, (_, index) => week[index % 7] ?? 0);
}

test('a service with half its usage at weekends has a factor of a half there', () => {
  const profile = weekdayProfile(finalDays(weeks(8, [10, 10, 10, 10, 10, 5, 5]), MONDAY));
  const expected = [10, 10, 10, 10, 10, 5, 5].map((value) => (value * 7) / 60);
  for (const [day, factor] of expected.entries()) expect(profile[day]).toBeCloseTo(factor, 6);
});

test('a job that runs on Sundays keeps its factor', () => {
  const profile = weekdayProfile(finalDays(weeks(8, [5, 5, 5, 5, 5, 5, 20]), MONDAY));
  expect(factorOn(profile, '2026-05-03')).toBeCloseTo(2.8, 6);
  expect(factorOn(profile, '2026-05-04')).toBeCloseTo(0.7, 6);
});

test('one unusual Tuesday does not change the factor of Tuesdays', () => {
  const values = weeks(8, [10, 10.2, 9.9, 10.1, 10, 9.8, 10]).map((value, index) =>
    index === 29 ? value * 6 : value,
  );
  const profile = weekdayProfile(finalDays(values, MONDAY));
  for (const factor of profile) expect(Math.abs(factor - 1)).toBeLessThan(0.05);
});

test('two equal Mondays are judged by the noise of all days', () => {
  const values = [15, 4, 22, 7, 16, 3, 12, 15, 20, 5, 18, 4, 17, 8];
  const [monday = 0] = weekdayProfile(finalDays(values, MONDAY));
  expect(monday).toBeGreaterThan(1);
  expect(monday).toBeLessThan(1.15);
});

test('noise has a flat profile', () => {
  const random = chance(5);
  const profiles = Array.from({ length: 40 }, () => {
    const values = Array.from({ length: 56 }, () => 10 * Math.exp(random() - 0.5));
    return weekdayProfile(finalDays(values, MONDAY));
  });
  const strayed = profiles.flat().map((factor) => Math.abs(factor - 1));
  expect(strayed.reduce((sum, value) => sum + value, 0) / strayed.length).toBeLessThan(0.1);
});

test.for<[string, readonly number[]]>([
  ['thirteen days', weeks(2, [1, 2, 3, 4, 5, 6, 7]).slice(1)],
  ['only zeros', weeks(8, [0])],
  ['every day the same', weeks(8, [3, 3, 3, 3, 3, 3, 3])],
])('a flat profile for %s', ([, values]) => {
  for (const factor of weekdayProfile(finalDays(values, MONDAY))) expect(factor).toBeCloseTo(1, 9);
});

test('the factors have the mean 1 for any scale and order, and with invalid figures', () => {
  // Numbers near 5e-324 lose their digits in a division by seven; no cost is that small.
  const value = fc.double({ min: 0, max: 1e5, noNaN: true }).map((one) => (one < 1e-300 ? 0 : one));
  fc.assert(
    fc.property(fc.array(value, { minLength: 14, maxLength: 60 }), (values) => {
      const days = finalDays(values, MONDAY);
      const profile = weekdayProfile(days);
      expect(profile.reduce((sum, factor) => sum + factor, 0)).toBeCloseTo(7, 6);

      const eightfold = values.map((one) => one * 8);
      const scaled = weekdayProfile(finalDays(eightfold, MONDAY));
      const spoiled = [{ day: '2026-01-01', value: Number.NaN, final: true }, ...days].toReversed();
      for (const [index, factor] of profile.entries()) {
        expect(scaled[index]).toBeCloseTo(factor, 6);
        expect(weekdayProfile(spoiled)[index]).toBe(factor);
      }
    }),
    { numRuns: 50 },
  );
  expect(weekdayProfile([])).toBe(FLAT);
});

test('history is 56 days before a day, not the day itself', () => {
  const days = historyOf(finalDays(weeks(10, [1]), MONDAY), '2026-05-10');
  expect([days.length, days[0]?.day, days.at(-1)?.day]).toEqual([56, '2026-03-15', '2026-05-09']);
});
