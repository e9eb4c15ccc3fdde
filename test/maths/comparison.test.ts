import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, type Day, weekdayOf } from '../../src/base/time.ts';
import { compare, monthToDate, relativeOf } from '../../src/maths/compare.ts';
import { type DayValue, microOf } from '../../src/maths/rows.ts';
import { days, TODAY } from './rows.ts';

/** From a day on, so many credits a day; a null is a day without data. */
function series(first: Day, credits: readonly (number | null)[], open: readonly Day[] = []) {
  return credits.flatMap((value, index): DayValue[] => {
    const day = addDays(first, index);
    return value === null ? [] : [{ day, value, final: !open.includes(day) }];
  });
}

const WEEK = { first: '2026-11-09', last: '2026-11-15' };
const BEFORE = { first: '2026-11-02', last: '2026-11-08' };

describe('a week compared with the week before', () => {
  const weeks = [10, 10, 10, 10, 10, 5, 5, 20, 10, 10, 10, 10, 5, 10];

  test('is shown in credits and as a share of the previous period', () => {
    expect(compare(series('2026-11-02', weeks), WEEK, BEFORE)).toEqual({
      ok: true,
      days: 7,
      notLocked: 0,
      now: microOf(75),
      before: microOf(60),
      delta: microOf(15),
      money: { now: null, before: null, delta: null },
      relative: 0.25,
      sameWeekdays: true,
    });
  });

  test.for<[string, readonly Day[]]>([
    ['its Monday is not final', ['2026-11-09']],
    ['the Monday before is not final', ['2026-11-02']],
    ['both Mondays are not final', ['2026-11-02', '2026-11-09']],
  ])('leaves out its Monday when %s', ([, open]) => {
    expect(compare(series('2026-11-02', weeks, open), WEEK, BEFORE)).toMatchObject({
      days: 6,
      now: microOf(55),
      before: microOf(50),
    });
  });

  test('leaves out a day without data on one side, instead of counting it as 0', () => {
    const holed = weeks.map((value, index) => (index === 7 ? null : value));
    expect(compare(series('2026-11-02', holed), WEEK, BEFORE)).toMatchObject({
      days: 6,
      before: microOf(50),
    });
  });

  test('has no percentage of less than a credit', () => {
    const small = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.39, ...weeks.slice(7)];
    expect(compare(series('2026-11-02', small), WEEK, BEFORE)).toMatchObject({
      delta: microOf(74.01),
      relative: null,
    });
  });
});

test('has a percentage from one credit on', () => {
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
    'no-common-settled-days',
    ['2026-12-07', '2026-12-07'],
    ['2026-11-30', '2026-11-30'],
  ],
])('%s cannot be compared: %s', ([, why, [first, last], [from, until]]) => {
  const known = series('2026-11-01', Array(19).fill(10));
  expect(compare(known, { first, last }, { first: from, last: until })).toEqual({ ok: false, why });
});

describe('a month compared with the month before', () => {
  const OCTOBER = { first: '2026-10-01', last: '2026-10-31' };
  const SEPTEMBER = { first: '2026-09-01', last: '2026-09-30' };
  /** Weekdays cost 10, the days of a weekend 2. */
  const workdays = Array.from({ length: 80 }, (_, index) =>
    weekdayOf(addDays('2026-09-01', index)) < 5 ? 10 : 2,
  );

  test('is compared with it for as many days as both have', () => {
    expect(compare(series('2026-09-01', workdays), OCTOBER, SEPTEMBER)).toMatchObject({
      days: 30,
      sameWeekdays: false,
    });
  });

  test('ends with the last final day, and with the same day of the previous month', () => {
    const open = ['2026-11-18', '2026-11-19'];
    const months = series('2026-09-01', workdays, open);
    const { through, comparison } = monthToDate(months, TODAY);
    expect(through).toBe('2026-11-17');
    expect(comparison).toMatchObject({ days: 17 });
  });

  test('ends with the last settled day, and counts the days that are not locked', () => {
    const open = ['2026-11-17', '2026-11-18', '2026-11-19'];
    const months = series('2026-09-01', workdays, open).map((one) => ({
      ...one,
      openDay: { settled: one.day < '2026-11-19', completion: null },
    }));
    const { through, comparison } = monthToDate(months, TODAY);
    expect(through).toBe('2026-11-18');
    expect(comparison).toMatchObject({ days: 18, notLocked: 2 });
  });

  test('has the same result for an earlier day as on that day', () => {
    const { through, comparison } = monthToDate(series('2026-09-01', workdays), '2026-11-10');
    expect(through).toBe('2026-11-10');
    expect(comparison).toMatchObject({ days: 10 });
  });

  test('is not compared without a final day', () => {
    const months = series('2026-09-01', workdays);
    expect(monthToDate(months, '2026-12-02')).toEqual({
      through: null,
      comparison: { ok: false, why: 'no-common-settled-days' },
    });
  });

  test('ends with the shorter month', () => {
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
