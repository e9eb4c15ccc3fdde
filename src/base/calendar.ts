// Spans of UTC days, the units of the calendar, and both in words.

import { tz } from '@date-fns/tz';
import { addMonths as addMonthsTo } from 'date-fns/addMonths';
import { format } from 'date-fns/format';
import { addDays, type Day, dayNumber, dayOf, weekdayOf } from './time.ts';

/** Consecutive days, both ends included. */
export interface Span {
  readonly first: Day;
  readonly last: Day;
}

/** A calendar month, written `2026-11`. */
type Month = string;

/** A unit of the calendar; weeks begin on Monday. */
export type Unit = 'day' | 'week' | 'month' | 'quarter' | 'year';

const DAY = /^2\d{3}-\d\d-\d\d$/;

/** Whether the text is an existing day from the year 2000 on. */
export function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(dayNumber(text)) && addDays(text, 0) === text;
}

/** The first day of the unit that contains the day. Not with date-fns, for the reason in time.ts. */
export function startOf(unit: Unit, day: Day): Day {
  if (unit === 'day') return day;
  if (unit === 'week') return addDays(day, -weekdayOf(day));
  if (unit === 'month') return `${monthOf(day)}-01`;
  if (unit === 'year') return `${day.slice(0, 4)}-01-01`;
  return `${day.slice(0, 4)}-${String(quarterOf(day) * 3 - 2).padStart(2, '0')}-01`;
}

/** 1 to 4. */
export function quarterOf(day: Day): number {
  return Math.ceil(Number(day.slice(5, 7)) / 3);
}

/** 1 to 31. */
export function dayOfMonth(day: Day): number {
  return Number(day.slice(8));
}

export function monthOf(day: Day): Month {
  return day.slice(0, 7);
}

/** All days of the month. */
export function monthSpan(month: Month): Span {
  const first = `${month}-01`;
  return { first, last: addDays(addMonths(first, 1), -1) };
}

/** The month before that of the day. */
export function previousMonth(day: Day): Span {
  return monthSpan(monthOf(addMonths(day, -1)));
}

/** The days of a month that are not in the future. */
export function monthSoFar(month: Month, today: Day): Span {
  const { first, last } = monthSpan(month);
  return { first, last: last < today ? last : today };
}

/** The months of a span, in order. One call of the usage report covers at most one month. */
export function monthsOf({ first, last }: Span): readonly Month[] {
  const months: Month[] = [];
  for (let day = first; day <= last; day = addMonths(startOf('month', day), 1)) {
    months.push(monthOf(day));
  }
  return months;
}

/** The same day of another month, or the last day of a shorter month: 31 October → 30 September. */
export function addMonths(day: Day, count: number): Day {
  return dayOf(addMonthsTo(`${day}T00:00:00Z`, count, UTC));
}

/** Context for date-fns: without it, the time zone of the process would apply. */
const UTC = { in: tz('UTC') };

/** The number of days; 0 if the last day is before the first. */
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

/**
 * A span as text, in UTC days: `Thu 19 Nov`, `1–19 Nov`, `28 Oct – 3 Nov`, `October 2026`, `2025`.
 * The current year is left out.
 */
export function formatSpan(span: Span, today: Day): string {
  const { first, last } = span;
  const [firstYear, lastYear] = [first.slice(0, 4), last.slice(0, 4)];
  const sameYear = firstYear === lastYear;
  if (sameYear && first.endsWith('-01-01') && last.endsWith('-12-31')) return firstYear;
  if (isWholeMonth(span)) return write(first, 'MMMM yyyy');

  const year = sameYear && firstYear === today.slice(0, 4) ? '' : ` ${lastYear}`;
  if (first === last) return `${formatDay(first)}${year}`;
  if (monthOf(first) === monthOf(last)) return `${dayOfMonth(first)}–${formatDate(last)}${year}`;
  return `${formatDate(first)}${sameYear ? '' : ` ${firstYear}`} – ${formatDate(last)}${year}`;
}

function isWholeMonth(span: Span): boolean {
  const whole = monthSpan(monthOf(span.first));
  return span.first === whole.first && lengthOf(span) === lengthOf(whole);
}

/** `1–20`, `5` or `30 Sep – 2 Oct`, for a place that shows the month already. */
export function formatShortSpan({ first, last }: Span): string {
  if (first === last) return String(dayOfMonth(first));
  return monthOf(first) === monthOf(last)
    ? `${dayOfMonth(first)}–${dayOfMonth(last)}`
    : `${formatDate(first)} – ${formatDate(last)}`;
}

/** `Thu 19 Nov` */
export function formatDay(day: Day): string {
  return write(day, 'EEE d MMM');
}

/** `19 Nov` */
export function formatDate(day: Day): string {
  return write(day, 'd MMM');
}

/** `Nov 2026` */
export function formatMonth(day: Day): string {
  return write(day, 'MMM yyyy');
}

/** `November` */
export function formatMonthName(day: Day): string {
  return write(day, 'MMMM');
}

function write(day: Day, pattern: string): string {
  return format(`${day}T00:00:00Z`, pattern, UTC);
}

/** `18–19 Nov, Tue 24 Nov`: ordered days, with consecutive days as one span. */
export function formatDays(days: readonly Day[], today: Day): string {
  const runs = runsOf(days);
  const shown = runs.slice(0, RUNS_MAX).map((run) => formatSpan(run, today));
  const more = runs.slice(RUNS_MAX).reduce((sum, run) => sum + lengthOf(run), 0);
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

const RUNS_MAX = 3;

function runsOf(days: readonly Day[]): readonly Span[] {
  const runs: { first: Day; last: Day }[] = [];
  for (const day of days) {
    const run = runs.at(-1);
    if (run && addDays(run.last, 1) === day) run.last = day;
    else runs.push({ first: day, last: day });
  }
  return runs;
}
