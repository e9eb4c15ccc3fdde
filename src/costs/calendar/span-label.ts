import { lengthOf, monthOf, monthSpan, type Span } from './calendar.ts';
import { addDays, type Day, weekdayOf } from './day.ts';

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
/** The twelve, in English, from January on. */
export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/**
 * A span as people say it, in UTC days: `Thu 19 Nov`, `1–19 Nov`, `28 Oct – 3 Nov`, `October 2026`,
 * `2025`. The year is left out where it is the one of `today`.
 */
export function spanLabel(span: Span, today: Day): string {
  const { first, last } = span;
  const sameYear = first.slice(0, 4) === last.slice(0, 4);
  if (sameYear && first.endsWith('-01-01') && last.endsWith('-12-31')) return first.slice(0, 4);
  if (isWholeMonth(span)) return `${monthName(first)} ${first.slice(0, 4)}`;

  const year = sameYear && first.slice(0, 4) === today.slice(0, 4) ? '' : ` ${last.slice(0, 4)}`;
  if (first === last) return `${dayLabel(first)}${year}`;
  if (monthOf(first) === monthOf(last)) return `${dayOfMonth(first)}–${dateOf(last)}${year}`;
  const firstYear = sameYear ? '' : ` ${first.slice(0, 4)}`;
  return `${dateOf(first)}${firstYear} – ${dateOf(last)}${year}`;
}

/** `Thu 19 Nov` */
export function dayLabel(day: Day): string {
  return `${WEEKDAYS[weekdayOf(day)]} ${dateOf(day)}`;
}

/** `Nov 2026` */
export function monthLabel(day: Day): string {
  return `${monthName(day).slice(0, 3)} ${day.slice(0, 4)}`;
}

/** `1–20`, `5` or `30 Sep – 2 Oct`: beside what says the month already. */
export function shortSpan({ first, last }: Span): string {
  if (first === last) return String(dayOfMonth(first));
  const isOneMonth = monthOf(first) === monthOf(last);
  return isOneMonth
    ? `${dayOfMonth(first)}–${dayOfMonth(last)}`
    : `${dateOf(first)} – ${dateOf(last)}`;
}

const RUNS_MAX = 3;

/** `18–19 Nov, Tue 24 Nov`: days in their order, those without a gap as one. */
export function daysLabel(days: readonly Day[], today: Day): string {
  const runs = runsOf(days);
  const told = runs.slice(0, RUNS_MAX);
  const more = runs.slice(RUNS_MAX).reduce((sum, run) => sum + lengthOf(run), 0);
  const rest = more > 0 ? [`${more} more`] : [];
  return [...told.map((run) => spanLabel(run, today)), ...rest].join(', ');
}

function runsOf(days: readonly Day[]): readonly Span[] {
  const runs: { first: Day; last: Day }[] = [];
  for (const day of days) {
    const run = runs.at(-1);
    if (run && addDays(run.last, 1) === day) run.last = day;
    else runs.push({ first: day, last: day });
  }
  return runs;
}

export function dateOf(day: Day): string {
  return `${dayOfMonth(day)} ${monthName(day).slice(0, 3)}`;
}

export function dayOfMonth(day: Day): number {
  return Number(day.slice(8));
}

function monthName(day: Day): string {
  return MONTHS[Number(day.slice(5, 7)) - 1] ?? monthOf(day);
}

function isWholeMonth(span: Span): boolean {
  const whole = monthSpan(monthOf(span.first));
  return span.first === whole.first && lengthOf(span) === lengthOf(whole);
}
