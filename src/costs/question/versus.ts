import {
  addMonths,
  formatSpan,
  lengthOf,
  monthOf,
  monthSpan,
  type Span,
} from '../../base/calendar.ts';
import { addDays, type Day } from '../../base/time.ts';
import type { Period } from './period.ts';

/** What a period is compared with: the previous one, the same days a week or month ago, or another. */
export type Versus = 'prev' | 'last-week' | 'last-month' | Period;

const MONTHS: Readonly<Partial<Record<Period['unit'], number>>> = {
  month: 1,
  quarter: 3,
  year: 12,
};

/**
 * The period to compare with. `prev` of a month, quarter or year is the previous one, whole or through
 * the same day. `prev` of other periods is the same weekdays, the smallest number of whole weeks
 * earlier without overlap, because different weekdays cannot be compared. `last-month` may have
 * different weekdays, which the comparison reports. Source: docs/costs.md#comparisons.
 */
export function comparisonPeriod(period: Period, how: Versus, today: Day): Period {
  if (typeof how !== 'string') return how;
  const span = earlier(period, how);

  return {
    ...span,
    label: formatSpan(span, today),
    notes: [],
    unit: period.unit,
    lastFinalOnly: false,
  };
}

/**
 * The word after `vs` for the same days when the period is written as a range: the previous month,
 * quarter or year of a range would be whole weeks.
 */
export function versusWord(period: Period, how: Versus): string {
  const isUnit = how === 'prev' && MONTHS[period.unit] !== undefined;
  if (typeof how === 'string' && !isUnit) return how;
  const { first, last } = typeof how === 'string' ? earlier(period, how) : how;
  return `${first}..${last}`;
}

function earlier(period: Period, how: 'prev' | 'last-week' | 'last-month'): Span {
  if (how === 'last-week') return weeksBefore(period, 1);
  const months = how === 'last-month' ? 1 : MONTHS[period.unit];
  return months === undefined ? spanBefore(period) : monthsBefore(period, months);
}

/** The same weekdays before a span: the smallest number of whole weeks earlier without overlap. */
export function spanBefore(span: Span): Span {
  return weeksBefore(span, Math.ceil(lengthOf(span) / 7));
}

function weeksBefore({ first, last }: Span, weeks: number): Span {
  return { first: addDays(first, -7 * weeks), last: addDays(last, -7 * weeks) };
}

/** A whole month is compared with a whole month, even if that one is longer. */
function monthsBefore({ first, last }: Span, months: number): Span {
  const end = addMonths(last, -months);
  const isWhole = first.endsWith('-01') && last === monthSpan(monthOf(last)).last;
  return { first: addMonths(first, -months), last: isWhole ? monthSpan(monthOf(end)).last : end };
}
