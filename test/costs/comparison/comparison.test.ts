import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, type Day, weekdayOf } from '../../../src/costs/calendar/day.ts';
import { compare, monthToDate, relativeOf } from '../../../src/costs/comparison/comparison.ts';
import { type DayValue, microOf } from '../../../src/costs/ledger/row.ts';
import { days, TODAY } from '../rows.ts';

/** From a day on, so many credits a day; a null is a day without data. */
function series(first: Day, credits: readonly (number | null)[], open: readonly Day[] = []) {
  return credits.flatMap((value, index): DayValue[] => {
    const day = addDays(first, index);
    return value === null ? [] : [{ day, value, final: !open.includes(day) }];
  });
}

const WEEK = { first: '2026-11-09', last: '2026-11-15' };
const BEFORE = { first: '2026-11-02', last: '2026-11-08' };

describe('a week against the week before', () => {
  const weeks = [10, 10, 10, 10, 10, 5, 5, 20, 10, 10, 10, 10, 5, 10];

  test('is shown in credits and as a share of the previous period', () => {
    expect(compare(series('2026-11-02', weeks), WEEK, BEFORE)).toEqual({
      ok: true,
      days: 7,
      now: microOf(75),
      before: microOf(60),
      delta: microOf(15),
      relative: 0.25,
      adjusted: null,
      sameWeekdays: true,
    });
  });

  test.for<[string, readonly Day[]]>([
    ['its Monday is not final', ['2026-11-09']],
    ['the Monday before is not final', ['2026-11-02']],
    ['both Mondays are not final', ['2026-11-02', '2026-11-09']],
  ])('goes without its Monday when %s', ([, open]) => {
    expect(compare(series('2026-11-02', weeks, open), WEEK, BEFORE)).toMatchObject({
      days: 6,
      now: microOf(55),
      before: microOf(50),
    });
  });

  test('goes without a day that has no data on one side, instead of taking it for zero', () => {
    const holed = weeks.map((value, index) => (index === 7 ? null : value));
    expect(compare(series('2026-11-02', holed), WEEK, BEFORE)).toMatchObject({
      days: 6,
      before: microOf(50),
    });
  });

  test('has no percent of less than a credit', () => {
    const small = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.39, ...weeks.slice(7)];
    expect(compare(series('2026-11-02', small), WEEK, BEFORE)).toMatchObject({
      delta: microOf(74.01),
      relative: null,
    });
  });
});

test('a credit is enough for a percent, a millionth less is not', () => {
  expect(relativeOf(microOf(2), microOf(1))).toBe(1);
  expect(relativeOf(microOf(2), microOf(1) - 1)).toBeNull();
});

test.for<[string, string, readonly [Day, Day], readonly [Day, Day]]>([
  [
    'a Tuesday with a Monday',
    'unequal-weekdays',
    ['2026-11-10', '2026-11-10'],
    ['2026-11-09', '2026-11-09'],
  ],
  [
    'days of a month with days from the first of another',
    'unequal-weekdays',
    ['2026-11-10', '2026-11-12'],
    ['2026-11-01', '2026-11-03'],
  ],
  [
    'seven days with six',
    'unequal-lengths',
    ['2026-11-09', '2026-11-15'],
    ['2026-11-02', '2026-11-07'],
  ],
  [
    'days of which none is known',
    'no-common-final-days',
    ['2026-12-07', '2026-12-07'],
    ['2026-11-30', '2026-11-30'],
  ],
])('nobody can compare %s: %s', ([, why, [first, last], [from, until]]) => {
  const known = series('2026-11-01', Array(19).fill(10));
  expect(compare(known, { first, last }, { first: from, last: until })).toEqual({ ok: false, why });
});

describe('a month against the month before', () => {
  const OCTOBER = { first: '2026-10-01', last: '2026-10-31' };
  const SEPTEMBER = { first: '2026-09-01', last: '2026-09-30' };
  /** Weekdays cost 10, the days of a weekend 2. */
  const workdays = Array.from({ length: 80 }, (_, index) =>
    weekdayOf(addDays('2026-09-01', index)) < 5 ? 10 : 2,
  );
  const factors = [50, 50, 50, 50, 50, 10, 10].map((factor) => (factor * 7) / 270);

  test('is held against it for as many days as both have', () => {
    expect(compare(series('2026-09-01', workdays), OCTOBER, SEPTEMBER)).toMatchObject({
      days: 30,
      sameWeekdays: false,
      adjusted: null,
    });
  });

  test('is shown without the effect of different weekdays if they differ by more than 3%', () => {
    const months = series('2026-09-01', workdays);
    const half = { first: '2026-11-01', last: '2026-11-03' };
    const before = { first: '2026-10-01', last: '2026-10-03' };
    const raw = { now: microOf(22), before: microOf(22) };
    expect(compare(months, half, before, factors)).toMatchObject({ ...raw, adjusted: null });

    const two = { first: '2026-11-01', last: '2026-11-02' };
    const comparison = compare(months, two, { ...before, last: '2026-10-02' }, factors);
    expect(comparison).toMatchObject({ relative: -0.4, adjusted: expect.closeTo(0, 9) });
  });

  test('goes through the last final day, and through the same day then', () => {
    const open = ['2026-11-18', '2026-11-19'];
    const months = series('2026-09-01', workdays, open);
    const { through, comparison } = monthToDate(months, TODAY);
    expect(through).toBe('2026-11-17');
    expect(comparison).toMatchObject({ days: 17 });
  });

  test('was, as of an earlier day, what it was through that day', () => {
    const { through, comparison } = monthToDate(series('2026-09-01', workdays), '2026-11-10');
    expect(through).toBe('2026-11-10');
    expect(comparison).toMatchObject({ days: 10 });
  });

  test('is not compared while no day of it is final', () => {
    const months = series('2026-09-01', workdays);
    expect(monthToDate(months, '2026-12-02')).toEqual({
      through: null,
      comparison: { ok: false, why: 'no-common-final-days' },
    });
  });

  test('ends where the shorter month ends', () => {
    const { comparison } = monthToDate(series('2026-02-01', Array(59).fill(1)), '2026-03-31');
    expect(comparison).toMatchObject({ days: 28, delta: 0 });
  });
});

test('the order of the days changes nothing, and days outside are not counted', () => {
  const values = fc
    .uniqueArray(fc.record({ day: days, value: fc.nat(1000), final: fc.boolean() }), {
      selector: ({ day }) => day,
    })
    .chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
  fc.assert(
    fc.property(values, days, fc.integer({ min: 1, max: 30 }), ([one, other], first, length) => {
      const now = { first, last: addDays(first, length - 1) };
      const before = { first: addDays(first, -35), last: addDays(now.last, -35) };
      const isWithin = ({ day }: DayValue) =>
        (day >= now.first && day <= now.last) || (day >= before.first && day <= before.last);
      const expected = compare(one, now, before);
      expect(compare(other, now, before)).toEqual(expected);
      expect(compare(one.filter(isWithin), now, before)).toEqual(expected);
    }),
  );
});
