/// <reference lib="esnext.temporal" />
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type CommitmentPace,
  commitmentPace,
  commitmentYear,
} from '../../../src/costs/budget/commitment.ts';
import { lengthOf, type Span, within } from '../../../src/costs/calendar/calendar.ts';
import { addDays, type Day, daysBetween, weekdayOf } from '../../../src/costs/calendar/day.ts';
import { type Forecast, forecastSpan } from '../../../src/costs/forecast/forecast.ts';
import { spendPath } from '../../../src/costs/forecast/spend-path.ts';
import type { DayValue } from '../../../src/costs/ledger/row.ts';

test.for<[string, Day, Day, Day, Day]>([
  ['a usual year', '2026-03-01', '2026-11-20', '2026-03-01', '2027-02-28'],
  ['the last day of a year', '2025-11-21', '2026-11-20', '2025-11-21', '2026-11-20'],
  ['the anniversary', '2025-11-20', '2026-11-20', '2026-11-20', '2027-11-19'],
  ['a year with 29 February', '2027-03-01', '2028-01-10', '2027-03-01', '2028-02-29'],
  ['a start on 29 February', '2024-02-29', '2024-12-31', '2024-02-29', '2025-02-27'],
  ['its second year', '2024-02-29', '2025-02-28', '2025-02-28', '2026-02-27'],
  ['the year before the next 29 February', '2024-02-29', '2028-02-28', '2027-02-28', '2028-02-28'],
  ['the next 29 February', '2024-02-29', '2028-02-29', '2028-02-29', '2029-02-27'],
  ['a start in the future', '2027-01-01', '2026-11-20', '2027-01-01', '2027-12-31'],
  ['a start in the next year', '2028-06-01', '2026-11-20', '2028-06-01', '2029-05-31'],
  ['a year that begins in December', '2025-12-31', '2026-01-01', '2025-12-31', '2026-12-30'],
])('the year of a commitment: %s', ([, start, day, first, last]) => {
  expect(commitmentYear(start, day)).toEqual({ first, last });
});

test('the years of a commitment are those of another calendar library, without gap or overlap', () => {
  const day = fc.integer({ min: 0, max: 9_000 }).map((count) => addDays('2020-01-01', count));
  fc.assert(
    fc.property(day, day, (start, today) => {
      const { first, last } = commitmentYear(start, today);
      const from = Temporal.PlainDate.from(start);
      const elapsed = from.until(Temporal.PlainDate.from(today), { largestUnit: 'years' }).years;
      const years = Math.max(0, elapsed);
      expect(first).toBe(from.add({ years }).toString());
      expect(last).toBe(
        from
          .add({ years: years + 1 })
          .subtract({ days: 1 })
          .toString(),
      );
      if (today >= start) expect(first <= today && today <= last).toBe(true);
      expect(commitmentYear(start, addDays(last, 1)).first).toBe(addDays(last, 1));
    }),
  );
});

const YEAR: Span = { first: '2026-03-01', last: '2027-02-28' };
const TODAY = '2026-11-20';

/** Every day since before the year; the last two, and today, are not settled. */
function steady(perDay: number, from: Day = '2026-02-01', today: Day = TODAY): DayValue[] {
  return daysBetween(from, today).map((day) => ({
    day,
    value: perDay,
    final: day < addDays(today, -2),
  }));
}

function paceOf(
  amount: number,
  series: readonly DayValue[],
  { year = YEAR, today = TODAY }: { year?: Span; today?: Day } = {},
): CommitmentPace & { readonly forecast: Forecast } {
  const forecast = forecastSpan(series, year, today, null);
  const path = spendPath(series, year, today, null);
  const own = within(series, { first: year.first, last: today });
  const pace = commitmentPace({ amount, year, today, series: own, forecast, path });
  return { ...pace, forecast };
}

test('a steady burn rate is compared with the rate that lasts for the year', () => {
  const { days, elapsed, burnRate, allowance, end } = paceOf(30_000, steady(100));
  expect({ days, elapsed }).toEqual({ days: 365, elapsed: 264 });
  expect(burnRate).toBeCloseTo(100);
  // 262 settled days of 100 leave 3,800 credits for 103 days.
  expect(allowance).toBeCloseTo(3_800 / 103);
  // The 300th day: 25 December.
  expect(end).toMatchObject({ state: 'before-end', day: '2026-12-25' });
});

test('a commitment that lasts shows what is left, and the earliest end', () => {
  const { end } = paceOf(40_000, steady(100));
  expect(end).toEqual({ state: 'lasts', left: 3_500, earliest: null });
  // Without past errors the interval is 2%: 26,200 settled + 102 open days · 102.
  const close = paceOf(36_600, steady(100));
  expect(close.end).toMatchObject({ state: 'lasts', left: 100, earliest: '2027-02-27' });
});

test('a commitment that is used up names the day', () => {
  expect(paceOf(20_000, steady(100)).end).toEqual({ state: 'used-up', day: '2026-09-16' });
});

test('a refund takes a commitment below its amount again', () => {
  const refunded = steady(100).map((one) =>
    one.day === '2026-11-10' ? { ...one, value: -6_700 } : one,
  );
  expect(paceOf(20_000, refunded).end).toMatchObject({ state: 'before-end' });
});

test('a commitment that begins later has no end, and one without a forecast an unknown end', () => {
  const year = { first: '2027-01-01', last: '2027-12-31' };
  const future = paceOf(30_000, steady(100), { year });
  expect(future).toMatchObject({ elapsed: 0, days: 365, end: { state: 'not-begun' } });
  const few = paceOf(30_000, steady(100, '2026-11-15'));
  expect(few).toMatchObject({ burnRate: null, end: { state: 'unknown' } });
});

test('on the last day of the year no day is left', () => {
  const today = YEAR.last;
  const all = steady(100, '2026-02-01', today).map((one) => ({ ...one, final: true }));
  const { elapsed, allowance } = paceOf(40_000, all, { today });
  expect({ elapsed, allowance }).toEqual({ elapsed: 364, allowance: null });
});

// The same figures from another language: SQL sums the days, and finds the days on which they reach
// the amount. The bounds come from one whole forecast for each possible last day.

/** Whole tenths: random doubles would nearly all be close to 0. */
const credits = fc.integer({ min: 0, max: 3_000 }).map((tenths) => tenths / 10);

const randomDays = fc
  .record({
    factor: fc.integer({ min: 50, max: 120 }).map((percent) => percent / 100 + 0.003),
    start: fc.integer({ min: 20, max: 360 }).map((count) => addDays(TODAY, -count)),
    values: fc.array(credits, {
      minLength: 20,
      maxLength: 380,
    }),
    openDays: fc.integer({ min: 1, max: 9 }),
    gap: fc.option(fc.integer({ min: 1, max: 15 }), { nil: null }),
  })
  .map(({ factor, start, values, openDays, gap }) => ({
    factor,
    year: commitmentYear(start, TODAY),
    series: values
      .map((value, at) => ({
        day: addDays(TODAY, at + 1 - values.length),
        value,
        final: at < values.length - openDays,
      }))
      .filter((_, at) => gap === null || at % 16 !== gap),
  }));

interface SqlInputs {
  readonly amount: number;
  readonly year: Span;
  readonly series: readonly DayValue[];
  readonly forecast: Forecast & { readonly ok: true };
}

function inSql({ amount, year, series, forecast }: SqlInputs) {
  const db = new DatabaseSync(':memory:');
  db.exec('create table cost (day text primary key, value real, final integer)');
  db.exec('create table factor (weekday integer primary key, f real)');
  const cost = db.prepare('insert into cost values (?, ?, ?)');
  for (const { day, value, final } of series) cost.run(day, value, final ? 1 : 0);
  const factor = db.prepare('insert into factor values (?, ?)');
  for (const [weekday, f] of forecast.basis.profile.entries()) factor.run((weekday + 1) % 7, f);
  const all = `
    with recursive
    known as (select min(day) as first from cost),
    year (day) as (select $first union all select date(day, '+1 day') from year where day < $last),
    own as (select * from cost where day between $first and $today),
    expected as (
      select year.day, coalesce(final, 0) as final, case when final = 1 then value
        else max(coalesce(value, 0), $level * f) end as credits
      from year left join cost using (day) join factor on weekday = strftime('%w', year.day)
      where year.day >= (select first from known)),
    path as (select day, sum(credits) over (order by day) as total from expected),
    reported as (select day, sum(value) over (order by day) as total from own)
    select (select count(*) from year) as days,
      (select count(*) from year where day < $today) as elapsed,
      (select max(0, ($amount - coalesce(sum(value) filter (where final), 0)))
        / ((select count(*) from year) - count(*) filter (where final)) from own) as allowance,
      (select sum(value) from own) as spent,
      (select min(day) from reported where total >= $amount) as usedUp,
      (select min(day) from path where total >= $amount) as day,
      (select $amount - total from path order by day desc limit 1) as rest`;
  const found = db.prepare(all).get({
    $first: year.first,
    $last: year.last,
    $today: TODAY,
    $level: forecast.basis.level,
    $amount: amount,
  });
  db.close();
  return found as Record<string, number & string>;
}

test('the figures of a commitment are those of another computation', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(randomDays, ({ factor, year, series }) => {
      const expected = forecastSpan(series, year, TODAY, null);
      const amount = factor * (expected.ok ? Math.max(1, expected.total) : 1_000);
      const { days, elapsed, burnRate, allowance, end, forecast } = paceOf(amount, series, {
        year,
      });
      seen.add(end.state);
      if (!forecast.ok) return;
      const sql = inSql({ amount, year, series, forecast });
      expect({ days, elapsed }).toEqual({ days: sql.days, elapsed: sql.elapsed });
      expect(days).toBe(lengthOf(year));
      expect(allowance).toBeCloseTo(sql.allowance ?? Number.NaN, 6);
      expect(burnRate).toBe(forecast.basis.level);
      if ((sql.spent ?? 0) >= amount) {
        expect(end).toEqual({ state: 'used-up', day: sql.usedUp });
        return;
      }
      const all = daysBetween(year.first, year.last).filter((day) => day >= (series[0]?.day ?? ''));
      /** Whether a bound of the forecast reaches the amount on this day, and on none of some earlier ones. */
      const isFirst = (bound: 'low' | 'high', found: Day | null) => {
        const reaches = (last: Day) => {
          const part = forecastSpan(series, { first: year.first, last }, TODAY, null);
          return part.ok && part[bound] >= amount;
        };
        const before = all.filter((day) => found === null || day < found);
        const some = before.filter((_, at) => at % 13 === 0 || at === before.length - 1);
        return (found === null || reaches(found)) && !some.some(reaches);
      };
      if (end.state === 'lasts') {
        expect(sql.day).toBeNull();
        expect(end.left).toBeCloseTo(sql.rest ?? Number.NaN, 6);
        expect(isFirst('high', end.earliest)).toBe(true);
      } else if (end.state === 'before-end') {
        expect(end.day).toBe(sql.day);
        expect(isFirst('high', end.earliest)).toBe(true);
        expect(isFirst('low', end.latest)).toBe(true);
      } else expect.fail(`the commitment is ${end.state}`);
    }),
    { numRuns: 60, endOnFailure: true },
  );
  expect([...seen].sort()).toEqual(['before-end', 'lasts', 'used-up']);
});

test('the path through the last day is the forecast of the span', () => {
  const series = steady(100).map((one) => ({
    ...one,
    value: one.value * (weekdayOf(one.day) > 4 ? 0.4 : 1) + (Number(one.day.slice(8)) % 7),
  }));
  const path = spendPath(series, YEAR, TODAY, null);
  for (const last of ['2026-11-19', '2026-11-25', '2026-12-31', YEAR.last]) {
    const forecast = forecastSpan(series, { first: YEAR.first, last }, TODAY, null);
    if (!forecast.ok) return expect.fail('there is no forecast');
    const point = path.find(({ day }) => day === last);
    expect(point?.total).toBeCloseTo(forecast.total, 6);
    expect(point?.low).toBeCloseTo(forecast.low, 6);
    expect(point?.high).toBeCloseTo(forecast.high, 6);
  }
  expect(path).toHaveLength(365);
});
