import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, type Day } from '../../src/base/time.ts';
import { compare, relativeOf } from '../../src/maths/compare.ts';
import { type DayValue, microOf } from '../../src/maths/rows.ts';
import { days } from './rows.ts';

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
      ...{ days: 7, isFinal: true, now: microOf(75), before: microOf(60), delta: microOf(15) },
      ...{ relative: 0.25, sameWeekdays: true },
    });
  });

  test.for<[string, readonly Day[]]>([
    ['its Monday is not final', ['2026-11-09']],
    ['the Monday before is not final', ['2026-11-02']],
    ['both Mondays are not final', ['2026-11-02', '2026-11-09']],
  ])('leaves out its Monday when %s', ([, open]) => {
    const six = { days: 6, now: microOf(55), before: microOf(50) };
    expect(compare(series('2026-11-02', weeks, open), WEEK, BEFORE)).toMatchObject(six);
  });

  test('leaves out a day without data on one side, instead of counting it as 0', () => {
    const holed = weeks.map((value, index) => (index === 7 ? null : value));
    const six = { days: 6, before: microOf(50) };
    expect(compare(series('2026-11-02', holed), WEEK, BEFORE)).toMatchObject(six);
  });

  test('has no percentage of less than a credit', () => {
    const small = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.39, ...weeks.slice(7)];
    const none = { delta: microOf(74.01), relative: null };
    expect(compare(series('2026-11-02', small), WEEK, BEFORE)).toMatchObject(none);
  });
});

test('has a percentage from one credit on', () => {
  expect(relativeOf(microOf(2), microOf(1))).toBe(1);
  expect(relativeOf(microOf(2), microOf(1) - 1)).toBeNull();
});

test('days that are not final are compared as reported', () => {
  const [now, before] = [
    { first: '2026-11-18', last: '2026-11-19' },
    { first: '2026-11-11', last: '2026-11-12' },
  ] as const;
  const known = series('2026-11-01', Array(19).fill(10), [now.first, now.last]);
  expect(compare(known, now, before)).toMatchObject({ isFinal: false, now: microOf(20) });
});

test('seven days are compared with six on the first six', () => {
  const known = series('2026-11-01', Array(19).fill(10));
  const [week, six] = [
    { first: '2026-11-09', last: '2026-11-15' },
    { first: '2026-11-02', last: '2026-11-07' },
  ] as const;
  const same = { days: 6, isFinal: true, now: microOf(60), before: microOf(60) };
  expect(compare(known, week, six)).toMatchObject(same);
  expect(compare(known, six, week)).toMatchObject(same);
});

test('different weekdays are compared and marked', () => {
  const known = series('2026-11-01', Array(19).fill(10));
  const [tuesday, monday] = ['2026-11-10', '2026-11-09'].map((day) => ({ first: day, last: day }));
  if (!tuesday || !monday) throw new Error('no days');
  expect(compare(known, tuesday, monday)).toMatchObject({ isFinal: true, sameWeekdays: false });
});

test('days without any data are not compared', () => {
  const known = series('2026-11-01', Array(19).fill(10));
  const day = { first: '2026-12-07', last: '2026-12-07' };
  expect(compare(known, day, { first: '2026-11-09', last: '2026-11-09' })).toBeNull();
});

test('the order of the days changes nothing, and days outside are not counted', () => {
  const day = fc.record({ day: days, value: fc.nat(1000), final: fc.boolean() });
  const values = fc
    .uniqueArray(day, { selector: (one) => one.day })
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
