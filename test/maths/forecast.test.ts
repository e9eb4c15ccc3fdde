import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, type Day } from '../../src/base/time.ts';
import { daysOfMonth, type Forecast, forecastMonth } from '../../src/maths/forecast.ts';
import type { DayValue } from '../../src/maths/rows.ts';
import { finalDays } from './synthetic.ts';

const TODAY = '2026-11-20';

function known(forecast: Forecast) {
  if (!forecast.ok) throw new Error(forecast.why);
  return forecast;
}

/** The last of these days is the one before today. */
function untilYesterday(values: readonly number[], today: Day = TODAY): readonly DayValue[] {
  return finalDays(values, addDays(today, -values.length));
}

test('a constant cost is forecast exactly', () => {
  const forecast = known(forecastMonth(untilYesterday(Array(60).fill(10)), TODAY));
  expect(forecast.total).toBeCloseTo(300);
  expect(forecast.soFar).toBeCloseTo(190);
  expect([forecast.low, forecast.high]).toEqual([
    expect.closeTo(190 + 110 * 0.98),
    expect.closeTo(190 + 110 * 1.02),
  ]);
  expect(forecast.basis).toMatchObject({ level: 10, days: 14, shifted: false, settledDays: 56 });
  expect(forecast.basis.openDays).toBe(11);
});

test('a final day with a refund counts as it is, and is not part of the level', () => {
  const days = untilYesterday(Array(60).fill(10));
  const refunded = days.map((day) => (day.day === '2026-11-12' ? { ...day, value: -40 } : day));
  const forecast = known(forecastMonth(refunded, TODAY));
  expect(forecast.total).toBeCloseTo(300 - 50);
  expect(forecast.soFar).toBeCloseTo(190 - 50);
  expect(forecast.basis).toMatchObject({ level: 10, openDays: 11 });
});

test('an open day with a refund so far counts as a usual day', () => {
  const refund = { day: TODAY, value: -40, final: false };
  const days = [...untilYesterday(Array(60).fill(10)), refund];
  expect(known(forecastMonth(days, TODAY)).total).toBeCloseTo(300);
});

test('weekends ahead count as weekends', () => {
  const week = (day: DayValue) => ({ ...day, value: weekend(day.day) ? 2 : 10 });
  const forecast = known(forecastMonth(untilYesterday(Array(56).fill(0)).map(week), TODAY));
  const month = daysOfMonth(TODAY).map((day) => (weekend(day) ? 2 : 10));
  expect(forecast.total).toBeCloseTo(
    month.reduce((sum, value) => sum + value, 0),
    3,
  );
});

function weekend(day: Day): boolean {
  return [0, 6].includes(new Date(`${day}T00:00:00Z`).getUTCDay());
}

test('four days after a rise the month is forecast with the new level', () => {
  const values = [...Array(52).fill(10), ...Array(4).fill(20)];
  const forecast = known(forecastMonth(untilYesterday(values), TODAY));
  expect(forecast.basis).toMatchObject({ days: 4, shifted: true });
  expect(forecast.total).toBeCloseTo(15 * 10 + 4 * 20 + 11 * 20);
});

test('a spike of one day is spent, and not forecast again', () => {
  const values = [...Array(50).fill(10), 200, ...Array(5).fill(10)];
  const { total } = known(forecastMonth(untilYesterday(values), TODAY));
  expect(total).toBeGreaterThan(18 * 10 + 200 + 110);
  expect(total).toBeLessThan(18 * 10 + 200 + 110 * 1.4);
});

test.for<[string, number, number]>([
  ['less than usual so far counts as usual', 4, 10],
  ['more than usual counts as it is', 25, 25],
])('a day that is not final and shows %s', ([, value, counted]) => {
  const days = untilYesterday(Array(59).fill(10), addDays(TODAY, -1));
  const yesterday = { day: addDays(TODAY, -1), value, final: false };
  const forecast = known(forecastMonth([...days, yesterday], TODAY));
  expect(forecast.total).toBeCloseTo(29 * 10 + counted);
  expect(forecast.soFar).toBeCloseTo(18 * 10 + value);
});

test('a day without data is not a day with a cost of 0', () => {
  const days = untilYesterday(Array(60).fill(10)).filter(({ day }) => day !== '2026-11-11');
  const forecast = known(forecastMonth(days, TODAY));
  expect(forecast.total).toBeCloseTo(300);
  expect(forecast.soFar).toBeCloseTo(180);
});

test('a service created on the 5th is not expected before', () => {
  const days = untilYesterday(Array(15).fill(10));
  expect(known(forecastMonth(days, TODAY)).total).toBeCloseTo(260);
});

test.for<[string, readonly DayValue[], object]>([
  [
    'nine final days',
    untilYesterday(Array(9).fill(10)),
    { why: 'too-few-settled-days', settledDays: 9 },
  ],
  ['no days', [], { why: 'too-few-settled-days', settledDays: 0 }],
  [
    'figures that are none',
    untilYesterday(Array(30).fill(Number.NaN)),
    { why: 'too-few-settled-days', settledDays: 0 },
  ],
  [
    'nothing settled since 22 days, while the lock age is unknown',
    untilYesterday(Array(40).fill(10), '2026-10-30'),
    { why: 'settled-days-too-old', settledDays: 40 },
  ],
])('there is no forecast from %s', ([, series, why]) => {
  expect(forecastMonth(series, TODAY)).toEqual({ ok: false, ...why });
});

test('how old the last settled day may be follows from the learned lock age', () => {
  const days = untilYesterday(Array(40).fill(10), '2026-11-11');
  const lockAge = { usual: 2, low: 2, high: 2, days: 28 };
  expect(forecastMonth(days, TODAY, lockAge)).toMatchObject({ why: 'settled-days-too-old' });
  expect(forecastMonth(days, TODAY, { ...lockAge, high: 3 }).ok).toBe(true);
});

test('with too few days to test forecasts, the interval is wide', () => {
  const { basis } = known(forecastMonth(untilYesterday(Array(12).fill(10)), TODAY));
  expect(basis.error).toBe(0.3);
});

test('the interval grows with the root of the days ahead', () => {
  const values = Array.from({ length: 56 }, (_, day) => 10 + ((day * day) % 11));
  const month = known(forecastMonth(untilYesterday(values, '2026-11-01'), '2026-11-01')).basis;
  const half = known(forecastMonth(untilYesterday(values, '2026-11-17'), '2026-11-17')).basis;
  expect([month.openDays, half.openDays]).toEqual([30, 14]);
  expect(month.error / half.error).toBeCloseTo(Math.sqrt(30 / 14), 6);
});

test('a future day does not count as reported', () => {
  const series = untilYesterday(Array(60).fill(10));
  const future = { day: addDays(TODAY, 1), value: 900, final: true };
  expect(forecastMonth([...series, future], TODAY)).toEqual(forecastMonth(series, TODAY));
});

test('without costs the forecast is 0', () => {
  const forecast = known(forecastMonth(untilYesterday(Array(56).fill(0)), TODAY));
  expect([forecast.total, forecast.low, forecast.high]).toEqual([0, 0, 0]);
});

test('a forecast scales with its series, in any order', () => {
  const values = fc.array(fc.nat(1e6), {
    minLength: 20,
    maxLength: 70,
  });
  fc.assert(
    fc.property(values, (costs) => {
      const plain = known(forecastMonth(untilYesterday(costs), TODAY));
      const scaled = known(forecastMonth(untilYesterday(costs.map((one) => one * 4)), TODAY));
      expect(scaled.total).toBeCloseTo(plain.total * 4, 4);
      expect(scaled.high).toBeCloseTo(plain.high * 4, 3);
      expect(forecastMonth(untilYesterday(costs).toReversed(), TODAY)).toEqual(plain);
      expect(plain.low).toBeLessThanOrEqual(plain.total);
      expect(plain.high).toBeGreaterThanOrEqual(plain.total);
      expect(plain.low).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 40 },
  );
});

test.for<[Day, number]>([
  ['2026-02-14', 28],
  ['2028-02-01', 29],
  ['2026-12-31', 31],
  ['2026-11-30', 30],
])('the month of %s has all of its days', ([day, count]) => {
  const days = daysOfMonth(day);
  expect([days.length, days[0]]).toEqual([count, `${day.slice(0, 7)}-01`]);
});
