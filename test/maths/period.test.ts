import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatSpan,
  isDay,
  monthOf,
  monthSoFar,
  monthSpan,
  monthsOf,
} from '../../src/base/calendar.ts';
import { addDays, type Day, dayNumber, daysBetween, weekdayOf } from '../../src/base/time.ts';
import {
  comparisonPeriod,
  type Period,
  periodForms,
  readPeriod,
  type Versus,
} from '../../src/maths/period.ts';
import { TODAY } from '../maths/rows.ts';

function period(text: string, today: Day = TODAY): Period {
  const reading = readPeriod(text, today);
  if (!reading.ok) throw new Error(`${text}: ${reading.problem}`);
  return reading.period;
}

describe('a Friday, 20 November 2026', () => {
  test.for<[string, Day, Day, string]>([
    ['today', '2026-11-20', '2026-11-20', 'Fri 20 Nov'],
    ['yesterday', '2026-11-19', '2026-11-19', 'Thu 19 Nov'],
    ['7d', '2026-11-13', '2026-11-19', '13–19 Nov'],
    ['1d', '2026-11-19', '2026-11-19', 'Thu 19 Nov'],
    ['400d', '2025-10-16', '2026-11-19', '16 Oct 2025 – 19 Nov 2026'],
    ['4w', '2026-10-23', '2026-11-19', '23 Oct – 19 Nov'],
    ['57w', '2025-10-17', '2026-11-19', '17 Oct 2025 – 19 Nov 2026'],
    ['this-week', '2026-11-16', '2026-11-19', '16–19 Nov'],
    ['last-week', '2026-11-09', '2026-11-15', '9–15 Nov'],
    ['mtd', '2026-11-01', '2026-11-19', '1–19 Nov'],
    ['last-month', '2026-10-01', '2026-10-31', 'October 2026'],
    ['qtd', '2026-10-01', '2026-11-19', '1 Oct – 19 Nov'],
    ['ytd', '2026-01-01', '2026-11-19', '1 Jan – 19 Nov'],
    ['2025', '2025-01-01', '2025-12-31', '2025'],
    ['2026-02', '2026-02-01', '2026-02-28', 'February 2026'],
    ['2026-11-12', '2026-11-12', '2026-11-12', 'Thu 12 Nov'],
    ['2025-11-12', '2025-11-12', '2025-11-12', 'Wed 12 Nov 2025'],
    ['2026-10-01..2026-11-15', '2026-10-01', '2026-11-15', '1 Oct – 15 Nov'],
    ['2026-11-03…2026-11-05', '2026-11-03', '2026-11-05', '3–5 Nov'],
    ['2026-11-01..', '2026-11-01', '2026-11-19', '1–19 Nov'],
    ['2026-09..2026-10', '2026-09-01', '2026-10-31', '1 Sep – 31 Oct'],
    ['2026-10..', '2026-10-01', '2026-11-19', '1 Oct – 19 Nov'],
    ['October', '2026-10-01', '2026-10-31', 'October 2026'],
    ['dec', '2025-12-01', '2025-12-31', 'December 2025'],
    ['may-2026', '2026-05-01', '2026-05-31', 'May 2026'],
    ['2025-oct', '2025-10-01', '2025-10-31', 'October 2025'],
    ['this-month', '2026-11-01', '2026-11-19', '1–19 Nov'],
    ['7days', '2026-11-13', '2026-11-19', '13–19 Nov'],
    ['last-2-weeks', '2026-11-06', '2026-11-19', '6–19 Nov'],
    ['  MTD ', '2026-11-01', '2026-11-19', '1–19 Nov'],
  ])('%s is from %s to %s', ([text, first, last, label]) => {
    expect(period(text)).toMatchObject({ first, last, label });
  });

  test.for<[string, Day]>([
    ['2026-11-10..2027-02-01', '2026-11-20'],
    ['2026-11-10..2026-11-20', '2026-11-20'],
    ['2026-11-20..', '2026-11-20'],
  ])('%s ends on %s', ([text, last]) => {
    expect(period(text)).toMatchObject({ last });
  });

  test.for<[string, string]>([
    ['mtd', 'november'],
    ['mtd', '2026-11'],
    ['mtd', 'nov-2026'],
    ['mtd', '2026-11-01..2026-11-30'],
    ['ytd', '2026'],
  ])('%s and %s are the same days, so that one month has one total', ([one, other]) => {
    const { first, last } = period(one);
    expect(period(other)).toMatchObject({ first, last });
  });

  test.for<[string, string, readonly string[]]>([
    ['2026-11-19..2026-11-01', 'reversed', ['2026-11-01..2026-11-19']],
    ['2024-01-01..2026-11-19', 'too-long', []],
    ['2024-01-01..', 'too-long', []],
    ['401d', 'too-long', []],
    ['58w', 'too-long', []],
    ['2026-12', 'in-the-future', []],
    ['2027', 'in-the-future', []],
    ['2026-11-21..', 'in-the-future', []],
    ['2026-02-30', 'no-such-day', []],
    ['2026-02-01..2026-02-29', 'no-such-day', []],
    ['0d', 'no-days', []],
    ['2026-13', 'unknown-words', []],
    ['lastmonth', 'unknown-words', ['last-month']],
    ['yest', 'unknown-words', ['yesterday']],
    ['7dd', 'unknown-words', []],
    ['40months', 'unknown-words', []],
    ['500-days', 'too-long', []],
    ['2026-10…2026-08', 'reversed', ['2026-08..2026-10']],
    ['2027-01..2027-02', 'in-the-future', []],
    ['2026-13..2026-14', 'no-such-day', []],
    ['december-2026', 'in-the-future', []],
    ['5.11.2026', 'unknown-words', []],
    ['1999', 'unknown-words', []],
    ['', 'unknown-words', []],
    ['dénouement ☂', 'unknown-words', []],
  ])('%s is refused as %s', ([text, problem, nearest]) => {
    const reading = readPeriod(text, TODAY);
    expect(reading).toMatchObject({ ok: false, problem });
    if (reading.ok) return;
    expect(reading.nearest.slice(0, nearest.length)).toEqual(nearest);
  });
});

test.for<[string, Day, Day]>([
  ['mtd', '2026-11-01', '2026-11-01'],
  ['qtd', '2026-10-01', '2026-10-01'],
  ['ytd', '2026-01-01', '2026-01-01'],
  ['this-week', '2026-11-16', '2026-11-16'],
  ['mtd', '2026-11-02', '2026-11-01'],
])(
  '%s on %s ends on %s, for there is no yesterday in it on its first day',
  ([text, today, last]) => {
    expect(period(text, today).last).toBe(last);
  },
);

describe('the period to compare with', () => {
  test.for<[string, Exclude<Versus, Period>, Day, Day]>([
    ['yesterday', 'prev', '2026-11-12', '2026-11-12'],
    ['7d', 'prev', '2026-11-06', '2026-11-12'],
    ['30d', 'prev', '2026-09-16', '2026-10-15'],
    ['last-week', 'prev', '2026-11-02', '2026-11-08'],
    ['this-week', 'prev', '2026-11-09', '2026-11-12'],
    ['mtd', 'prev', '2026-10-01', '2026-10-19'],
    ['last-month', 'prev', '2026-09-01', '2026-09-30'],
    ['2026-02', 'prev', '2026-01-01', '2026-01-31'],
    ['qtd', 'prev', '2026-07-01', '2026-08-19'],
    ['ytd', 'prev', '2025-01-01', '2025-11-19'],
    ['2025', 'prev', '2024-01-01', '2024-12-31'],
  ])('%s vs %s: %s to %s', ([text, how, first, last]) => {
    expect(comparisonPeriod(period(text), how, TODAY)).toMatchObject({ first, last });
  });

  test('a named period is used unchanged', () => {
    expect(comparisonPeriod(period('mtd'), period('2026-09'), TODAY)).toEqual(period('2026-09'));
  });

  test('the previous days have the same weekdays and do not overlap', () => {
    fc.assert(
      fc.property(spans, ({ first, last }) => {
        const now = { ...period('7d'), first, last };
        const before = comparisonPeriod(now, 'prev', TODAY);
        expect(before.last < first).toBe(true);
        expect(daysBetween(before.first, before.last).map(weekdayOf)).toEqual(
          daysBetween(first, last).map(weekdayOf),
        );
      }),
    );
  });
});

const someDay = fc.integer({ min: dayNumber('2024-01-01'), max: dayNumber('2026-12-31') });
const today = someDay.map((number) => addDays('1970-01-01', number));
const spans = fc.tuple(today, fc.integer({ min: 0, max: 399 })).map(([first, length]) => ({
  first,
  last: addDays(first, length),
}));

test('every valid form, on any day, is a span of existing days without future ones', () => {
  fc.assert(
    fc.property(today, (now) => {
      for (const form of periodForms(now)) {
        const { first, last } = period(form, now);
        expect([isDay(first), isDay(last)]).toEqual([true, true]);
        expect(first <= last && last <= now).toBe(true);
      }
    }),
  );
});

test('every suggestion for a refused word is valid', () => {
  const words = fc.oneof(
    fc.string(),
    fc.tuple(fc.nat(999), fc.constantFrom('d', 'w', 'days', 'm')).map(([n, unit]) => `${n}${unit}`),
    fc.tuple(today, today).map(([a, b]) => `${a}..${b}`),
    today.map((day) => `${day}..`),
  );
  fc.assert(
    fc.property(words, today, (word, now) => {
      const reading = readPeriod(word, now);
      const nearest = reading.ok ? [] : reading.nearest;
      expect(nearest.filter((form) => !readPeriod(form, now).ok)).toEqual([]);
    }),
  );
});

test('N days are N days that end yesterday', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), today, (count, now) => {
      const { first, last } = period(`${count}d`, now);
      expect(daysBetween(first, last)).toHaveLength(count);
      expect(last).toBe(addDays(now, -1));
    }),
  );
});

test('the months of a span are exactly those of its days, each at most 31 days', () => {
  fc.assert(
    fc.property(spans, ({ first, last }) => {
      const months = monthsOf({ first, last });
      expect(months).toEqual([...new Set(daysBetween(first, last).map(monthOf))]);
      for (const month of months) {
        const days = daysBetween(monthSpan(month).first, monthSpan(month).last);
        expect(days.length).toBeLessThanOrEqual(31);
        expect(new Set(days.map(monthOf))).toEqual(new Set([month]));
      }
    }),
  );
});

test('a past month is fetched whole, the current one so far', () => {
  expect(monthSoFar('2026-10', TODAY)).toEqual({ first: '2026-10-01', last: '2026-10-31' });
  expect(monthSoFar('2026-11', TODAY)).toEqual({ first: '2026-11-01', last: TODAY });
});

test('a span over the end of a year names both years', () => {
  expect(formatSpan({ first: '2025-12-30', last: '2026-01-02' }, TODAY)).toBe(
    '30 Dec 2025 – 2 Jan 2026',
  );
});
