import { expect, test } from 'vitest';
import { addDays, daysBetween } from '../../src/base/time.ts';
import { burnOf, paceOf, planOn } from '../../src/costs/budgets.ts';
import { FLAT } from '../../src/maths/statistics.ts';
import { finalDays } from '../maths/synthetic.ts';

const WORKDAYS = [1.2, 1.2, 1.2, 1.2, 1.2, 0.5, 0.5];

test('a plan spends the amount by the end of the month, and less at weekends', () => {
  const month = daysBetween('2026-11-01', '2026-11-30');
  const planned = month.map((day) => planOn(3_000, WORKDAYS, day));
  expect(planned.reduce((sum, value) => sum + value)).toBeCloseTo(3_000);
  // 1 November 2026 is a Sunday.
  expect(planOn(3_000, WORKDAYS, '2026-11-02') / planOn(3_000, WORKDAYS, '2026-11-01')).toBeCloseTo(
    2.4,
  );
});

test('the pace of a month counts final days only, on both sides', () => {
  const days = finalDays(Array(10).fill(150), '2026-11-01').map((day) =>
    day.day === '2026-11-04' ? { ...day, value: 9_999, final: false } : day,
  );
  const before = finalDays([500], '2026-10-31');
  const pace = paceOf(3_000, FLAT, [...before, ...days], '2026-11-10');
  expect(pace).toEqual({
    plan: expect.closeTo(900),
    spent: 1_350,
    ratio: expect.closeTo(1.5),
  });
});

test('the pace counts a settled day that is not locked', () => {
  const openDay = { settled: true, completion: null };
  const [day] = finalDays([150], '2026-11-04').map((one) => ({ ...one, final: false, openDay }));
  expect(paceOf(3_000, FLAT, day ? [day] : [], '2026-11-04').spent).toBe(150);
});

test('without a plan there is no pace', () => {
  expect(paceOf(0, FLAT, finalDays([5], '2026-11-01'), '2026-11-01').ratio).toBeNull();
});

const LAST = '2026-11-14';

/** The plan is 100 a day; the last of these is the last final day. */
function burn(values: readonly number[], forecast: number | null = null) {
  const days = finalDays(values, addDays(LAST, 1 - values.length));
  return burnOf({ amount: 3_000, profile: FLAT }, days, LAST, forecast)?.kind ?? null;
}

test.for<[string, readonly number[], number | null, 'fast' | 'slow' | null]>([
  ['as planned', Array(7).fill(100), null, null],
  [
    'double on one day, after two expensive days',
    [100, 100, 100, 100, 125, 125, 201],
    null,
    'fast',
  ],
  ['double on one day only', [100, 100, 100, 100, 100, 100, 210], null, null],
  ['a third more for a week, and above by the forecast', Array(7).fill(131), 3_100, 'slow'],
  ['a third more for a week, and within by the forecast', Array(7).fill(131), 2_900, null],
  ['a third more for a week, with no forecast', Array(7).fill(131), null, null],
  ['a fifth more for a week', Array(7).fill(120), 3_100, null],
  ['double, on the six days that there are', Array(6).fill(200), 4_000, null],
])('the budget burns %s', ([, values, forecast, kind]) => {
  expect(burn(values, forecast)).toBe(kind);
});

test('days after the last final one do not count in the burn rate', () => {
  const days = finalDays([...Array(7).fill(100), 900, 900], addDays(LAST, -6));
  expect(burnOf({ amount: 3_000, profile: FLAT }, days, LAST, null)).toBeNull();
});

test('a week in two months is compared with both plans', () => {
  const days = daysBetween('2026-10-29', '2026-11-04');
  const planned = days.map((day) => ({ day, value: planOn(3_000, FLAT, day) * 2, final: true }));
  const found = burnOf({ amount: 3_000, profile: FLAT }, planned, '2026-11-04', null);
  expect(found?.rates.map((rate) => rate.toFixed(6))).toEqual(['2.000000', '2.000000', '2.000000']);
});
