import { tz } from '@date-fns/tz';
import { addMonths as addMonthsTo } from 'date-fns/addMonths';
import { addDays, type Day, dayNumber, dayOf, weekdayOf } from './day.ts';

/** Consecutive days, both ends included. */
export interface Span {
  readonly first: Day;
  readonly last: Day;
}

/** A calendar month, written `2026-11`. */
type Month = string;

/** A unit of the calendar; weeks begin on Monday. */
export type Unit = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** Context for date-fns: without it, the time zone of the process would apply. */
export const UTC = { in: tz('UTC') };

const DAY = /^2\d{3}-\d\d-\d\d$/;

/** Whether the text is an existing day from the year 2000 on. */
export function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(dayNumber(text)) && addDays(text, 0) === text;
}

export function lengthOf({ first, last }: Span): number {
  return Math.max(0, dayNumber(last) - dayNumber(first) + 1);
}

export function isWithin({ first, last }: Span, day: Day): boolean {
  return day >= first && day <= last;
}

/** The items of these days. */
export function within<Item extends { readonly day: Day }>(
  items: readonly Item[],
  span: Span,
): readonly Item[] {
  return items.filter(({ day }) => isWithin(span, day));
}

/** The shortest span that contains both. */
export function spanOfBoth(one: Span, other: Span): Span {
  return {
    first: one.first < other.first ? one.first : other.first,
    last: one.last > other.last ? one.last : other.last,
  };
}

export function monthOf(day: Day): Month {
  return day.slice(0, 7);
}

export function monthSpan(month: Month): Span {
  const first = `${month}-01`;
  return { first, last: addDays(addMonths(first, 1), -1) };
}

/** The month before that of the day. */
export function previousMonth(day: Day): Span {
  return monthSpan(monthOf(addMonths(day, -1)));
}

/** The same day of another month, or the last day of a shorter month: 31 October → 30 September. */
export function addMonths(day: Day, count: number): Day {
  return dayOf(addMonthsTo(`${day}T00:00:00Z`, count, UTC));
}

/** The first day of the unit that contains the day. Own code for the reason in day.ts. */
export function startOf(unit: Unit, day: Day): Day {
  if (unit === 'day') return day;
  if (unit === 'week') return addDays(day, -weekdayOf(day));
  if (unit === 'month') return `${monthOf(day)}-01`;
  if (unit === 'year') return `${day.slice(0, 4)}-01-01`;
  return `${day.slice(0, 4)}-${String(quarterOf(day) * 3 - 2).padStart(2, '0')}-01`;
}

export function quarterOf(day: Day): number {
  return Math.ceil(Number(day.slice(5, 7)) / 3);
}

/** The months of a span, in order. One call of the usage report covers at most one month. */
export function monthsOf({ first, last }: Span): readonly Month[] {
  const months: Month[] = [];
  for (let day = first; day <= last; day = addMonths(startOf('month', day), 1)) {
    months.push(monthOf(day));
  }
  return months;
}

/** The days of a month that are not in the future. */
export function monthSoFar(month: Month, today: Day): Span {
  const { first, last } = monthSpan(month);
  return { first, last: last < today ? last : today };
}
