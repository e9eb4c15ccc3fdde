import { format } from 'date-fns/format';
import { lengthOf, monthOf, monthSpan, type Span, UTC } from './calendar.ts';
import { addDays, type Day } from './day.ts';

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

/** `Thu 19 Nov` */
export function formatDay(day: Day): string {
  return write(day, 'EEE d MMM');
}

/** `Nov 2026` */
export function formatMonth(day: Day): string {
  return write(day, 'MMM yyyy');
}

/** `19 Nov` */
export function formatDate(day: Day): string {
  return write(day, 'd MMM');
}

/** `1–20`, `5` or `30 Sep – 2 Oct`, for a place that shows the month already. */
export function formatShortSpan({ first, last }: Span): string {
  if (first === last) return String(dayOfMonth(first));
  return monthOf(first) === monthOf(last)
    ? `${dayOfMonth(first)}–${dayOfMonth(last)}`
    : `${formatDate(first)} – ${formatDate(last)}`;
}

const RUNS_MAX = 3;

/** `18–19 Nov, Tue 24 Nov`: ordered days, with consecutive days as one span. */
export function formatDays(days: readonly Day[], today: Day): string {
  const runs = runsOf(days);
  const shown = runs.slice(0, RUNS_MAX).map((run) => formatSpan(run, today));
  const more = runs.slice(RUNS_MAX).reduce((sum, run) => sum + lengthOf(run), 0);
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
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

export function dayOfMonth(day: Day): number {
  return Number(day.slice(8));
}

function write(day: Day, pattern: string): string {
  return format(`${day}T00:00:00Z`, pattern, UTC);
}

function isWholeMonth(span: Span): boolean {
  const whole = monthSpan(monthOf(span.first));
  return span.first === whole.first && lengthOf(span) === lengthOf(whole);
}
