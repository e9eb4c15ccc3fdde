import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Span } from '../../src/base/calendar.ts';
import { formatDays, monthOf, startOf } from '../../src/base/calendar.ts';
import { daysBetween } from '../../src/base/time.ts';
import { dayStates, statesWithin } from '../../src/maths/days.ts';
import { onCalendar, sumBy, type TimeUnit } from '../../src/maths/lines.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { daily, randomRows, row, spans, totalOf } from './rows.ts';

const UNITS: readonly TimeUnit[] = ['day', 'week', 'month'];

function linesOf(rows: readonly CostRow[], unit: TimeUnit, span: Span) {
  return onCalendar(sumBy(rows, unit, span), dayStates(rows, span), unit);
}

function namesOf(rows: readonly CostRow[], unit: TimeUnit, span: Span) {
  return linesOf(rows, unit, span).map(({ name }) => name);
}

describe('an incomplete week or month shows its days', () => {
  const TWO_MONTHS = 'week of Mon 28 Sep, 30 Sep – 3 Oct';
  const rows = daily('2026-09-20', Array(62).fill(1));

  test.for<[string, TimeUnit, string, string, readonly string[]]>([
    [
      'months that are cut at both ends',
      'month',
      '2026-09-30',
      '2026-11-19',
      ['Sep 2026, 30', 'Oct 2026', 'Nov 2026, 1–19'],
    ],
    [
      'weeks that are cut at both ends',
      'week',
      '2026-11-04',
      '2026-11-16',
      ['week of Mon 2 Nov, 4–8', 'week of Mon 9 Nov', 'week of Mon 16 Nov, 16'],
    ],
    ['a week of two months', 'week', '2026-09-30', '2026-10-03', [TWO_MONTHS]],
    ['a day, which is always whole', 'day', '2026-11-16', '2026-11-16', ['Mon 16 Nov']],
  ])('%s', ([, unit, first, last, names]) => {
    expect(namesOf(rows, unit, { first, last })).toEqual(names);
  });
});

describe('a day without data', () => {
  const rows = [...daily('2026-11-02', [5, 5, 5]), ...daily('2026-11-06', [5, 5])];
  const span = { first: '2026-11-02', last: '2026-11-07' };

  test('is a line without days, not left out and not 0', () => {
    const lines = linesOf(rows, 'day', span);
    expect(lines.map(({ key, days }) => `${key.slice(8)}: ${days}`)).toEqual([
      ...['02: 1', '03: 1', '04: 1', '05: 0', '06: 1', '07: 1'],
    ]);
    expect(lines[3]).toMatchObject({ name: 'Thu 5 Nov', share: null });
  });

  test('is left out of a week or month', () => {
    expect(namesOf(rows, 'week', span)).toEqual(['week of Mon 2 Nov, 2–7']);
  });

  test('costs 0 for a service if the report has other rows', () => {
    const all = [...rows, row({ day: '2026-11-05', entityId: 's-2', locked: false })];
    const states = statesWithin(dayStates(all, span), rows);
    const [, , , line] = onCalendar(sumBy(rows, 'day', span), states, 'day');
    expect(line).toMatchObject({ name: 'Thu 5 Nov', total: 0, share: 0, days: 1 });
  });
});

test('a day of a service is open while any row of the day is', () => {
  const own = [row({ day: '2026-11-17' })];
  const all = [...own, row({ day: '2026-11-17', entityId: 's-2', locked: false })];
  const span = { first: '2026-11-17', last: '2026-11-17' };
  expect(statesWithin(dayStates(all, span), own)).toMatchObject([{ state: 'preliminary' }]);
});

test.for(UNITS)('by %s, every day is in one line and the lines add up to the rows', (unit) => {
  fc.assert(
    fc.property(randomRows, spans, (rows, span) => {
      const lines = linesOf(rows, unit, span);
      const keyOf = (day: string) => (unit === 'month' ? monthOf(day) : startOf(unit, day));
      const keys = daysBetween(span.first, span.last).map(keyOf);
      expect(lines.map(({ key }) => key)).toEqual([...new Set(keys)]);
      expect(lines.reduce((sum, one) => sum + one.total, 0)).toBe(totalOf(rows, span));
    }),
  );
});

test('days are listed as ranges, at most three of them', () => {
  const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}`;
  const text = (...numbers: number[]) => formatDays(numbers.map(day), '2026-11-20');
  expect(text(5)).toBe('Thu 5 Nov');
  expect(text(3, 4, 5, 9)).toBe('3–5 Nov, Mon 9 Nov');
  expect(text(1, 3, 5, 7, 8, 10)).toBe('Sun 1 Nov, Tue 3 Nov, Thu 5 Nov, 3 more');
});
