import { describe, expect, test } from 'vitest';
import { monthSpan } from '../../src/base/calendar.ts';
import { addDays, daysBetween } from '../../src/base/time.ts';
import {
  cautiousTotal,
  chanceAbove,
  type Forecast,
  forecastSpan,
} from '../../src/maths/forecast.ts';
import type { DayValue } from '../../src/maths/rows.ts';
import { chance } from './rows.ts';

const NOVEMBER = monthSpan('2026-11');

/** 100 credits a day with noise, from 98 days before, times a factor; the last three days are open. */
function seriesOf(
  today: string,
  factor: (day: string) => number = () => 1,
  share: number | null = 1,
): readonly DayValue[] {
  const random = chance(3);
  return daysBetween(addDays(today, -98), addDays(today, -1)).map((day) => {
    const value = 100 * (1 + 0.06 * (random() - 0.5)) * factor(day);
    const isOpen = day >= addDays(today, -3);
    if (!isOpen) return { day, value, final: true };
    const completeness = share === null ? null : { share, error: 0.02, common: 0 };
    return { day, value: value * (share ?? 0.9), final: false, openDay: { age: 1, completeness } };
  });
}

function forecastMonth(series: readonly DayValue[], today: string, isExplained = false) {
  return forecastSpan(series, monthSpan(today.slice(0, 7)), today, isExplained);
}

function known(forecast: Forecast) {
  if (!forecast.ok) throw new Error(forecast.why);
  return forecast;
}

test('a steady month is forecast to its level, with a narrow range around it', () => {
  const { total, low, high, isWide } = known(forecastMonth(seriesOf('2026-11-16'), '2026-11-16'));
  expect(total).toBeCloseTo(3000, -2);
  expect(low).toBeLessThan(total);
  expect(high - low).toBeLessThan(200);
  expect(isWide).toBe(false);
});

test('an open day counts as complete as days of its age are, at once', () => {
  const whole = known(forecastMonth(seriesOf('2026-11-16'), '2026-11-16'));
  const open = known(forecastMonth(seriesOf('2026-11-16', undefined, 0.7), '2026-11-16'));
  expect(open.total).toBeCloseTo(whole.total, -2);
  expect(open.soFar).toBeLessThan(whole.soFar - 80);
});

describe('a backfill of ×4 on three days', () => {
  const backfill = (day: string) => (day >= '2026-11-09' && day <= '2026-11-11' ? 4 : 1);
  const truth = 27 * 100 + 3 * 400;

  test('is one hypothesis of two: the range covers both, and the title shows the range', () => {
    const forecast = known(forecastMonth(seriesOf('2026-11-12', backfill), '2026-11-12'));
    expect(forecast.isWide).toBe(true);
    expect(forecast.low).toBeLessThan(1.01 * truth);
    expect(forecast.high).toBeGreaterThan(8000);
    expect(forecast.basis.shift).toMatchObject({ days: 3, since: '2026-11-09' });
    // Neither "likely" nor "almost certainly over" 5,000.
    expect(chanceAbove(forecast, 5000)).toBeLessThan(0.75);
    expect(cautiousTotal(forecast)).toBeLessThan(5000);
  });

  test('is over two days later', () => {
    const forecast = known(forecastMonth(seriesOf('2026-11-14', backfill), '2026-11-14'));
    expect(forecast.total).toBeCloseTo(truth, -2.5);
    expect(forecast.isWide).toBe(false);
  });
});

test('a step of +70% is believed after seven days, and after one if a change explains it', () => {
  const step = (day: string) => (day >= '2026-11-10' ? 1.7 : 1);
  const truth = 9 * 100 + 21 * 170;
  const seventh = known(forecastMonth(seriesOf('2026-11-17', step), '2026-11-17'));
  expect(seventh.total).toBeCloseTo(truth, -2.5);
  const first = known(forecastMonth(seriesOf('2026-11-11', step), '2026-11-11', true));
  expect(first.total / truth).toBeCloseTo(1, 1);
  expect(chanceAbove(first, 3_700)).toBeGreaterThan(0.75);
});

test('a first read takes days that were read once as complete or incomplete, with half each', () => {
  const today = '2026-11-16';
  const forecast = known(forecastMonth(seriesOf(today, undefined, null), today));
  expect(forecast.parts.length).toBe(2);
  expect(forecast.low).toBeLessThan(3000);
  expect(forecast.high).toBeGreaterThan(2990);
});

test('a day without rows counts half of its usual cost, and nothing after three weeks', () => {
  const all = seriesOf('2026-11-28');
  const total = (without = '') => {
    const days = all.filter(({ day }) => day !== without);
    return known(forecastMonth(days, '2026-11-28')).total;
  };
  const whole = total();
  expect(whole - total('2026-11-20')).toBeCloseTo(50, -1);
  expect(whole - total('2026-11-05')).toBeCloseTo(100, -1);
});

test('a refund counts in the sum and not in the level', () => {
  const all = seriesOf('2026-11-16');
  const refunded = all.map((one) => (one.day === '2026-11-05' ? { ...one, value: -400 } : one));
  const [plain, other] = [all, refunded].map((each) => known(forecastMonth(each, '2026-11-16')));
  expect((plain?.total ?? 0) - (other?.total ?? 0)).toBeCloseTo(500, -1);
  expect(other?.basis.level).toBeCloseTo(plain?.basis.level ?? 0, -0.5);
});

test('the next month is forecast with a wider range', () => {
  const series = seriesOf('2026-11-16');
  const own = known(forecastSpan(series, NOVEMBER, '2026-11-16'));
  const next = known(forecastSpan(series, monthSpan('2026-12'), '2026-11-16'));
  expect(next.total).toBeCloseTo(3100, -2);
  expect(next.soFar).toBe(0);
  expect(next.high - next.low).toBeGreaterThan(own.high - own.low);
});

test.for<[string, readonly DayValue[], string, object]>([
  ['without days', [], '2026-11-16', { ok: false, why: 'too-few-days', days: 0 }],
  ['with two days', seriesOf('2026-11-16').slice(-2), '2026-11-16', { why: 'too-few-days' }],
  ['with days of last summer', seriesOf('2026-08-16'), '2026-11-16', { why: 'days-too-old' }],
])('%s there is no forecast, never 0', ([, series, today, expected]) => {
  expect(forecastMonth(series, today)).toMatchObject(expected);
});

test('a range never contradicts its point', () => {
  for (let day = 1; day <= 30; day += 1) {
    const today = addDays('2026-11-01', day);
    const series = seriesOf(today, (one) => (one > '2026-11-12' ? 2 : 1));
    const { low, total, high } = known(forecastSpan(series, NOVEMBER, today));
    expect(low).toBeLessThanOrEqual(total);
    expect(total).toBeLessThanOrEqual(high);
  }
});

describe('the width of the range', () => {
  const width = (series: readonly DayValue[], today: string) => {
    const { low, high } = known(forecastMonth(series, today));
    return high - low;
  };

  test('a level that wanders is known less far ahead than one that only has noise', () => {
    const wave = (day: string) => 1 + 0.08 * Math.sin(Date.parse(day) / (9 * 86_400_000));
    const [calm, wandering] = [seriesOf('2026-11-03'), seriesOf('2026-11-03', wave)];
    expect(width(wandering, '2026-11-03')).toBeGreaterThan(2 * width(calm, '2026-11-03'));
  });

  test('an incident that is over does not widen it as a level that wanders does', () => {
    const incident = (day: string) => (day >= '2026-10-20' && day <= '2026-10-21' ? 4 : 1);
    const calm = width(seriesOf('2026-11-03'), '2026-11-03');
    expect(width(seriesOf('2026-11-03', incident), '2026-11-03')).toBeLessThan(1.7 * calm);
  });

  test('what each open day lacks on its own adds up less than what they have in common', () => {
    const withError = (error: number, common: number) => {
      const openDay = { age: 1, completeness: { share: 1, error, common } };
      return seriesOf('2026-11-25').map((one) => (one.final ? one : { ...one, openDay }));
    };
    const own = width(withError(0.5, 0), '2026-11-25');
    expect(own).toBeLessThan(0.75 * width(withError(0.5, 0.5), '2026-11-25'));
    expect(own).toBeGreaterThan(width(withError(0, 0), '2026-11-25'));
  });
});
