import { addMonths, lengthOf, monthOf, monthSpan, type Span } from '../calendar/calendar.ts';
import { addDays, type Day } from '../calendar/day.ts';
import { spanLabel } from '../calendar/span-label.ts';
import type { Period } from './period.ts';

/** What a period is held against: the one before, the same days a week or month ago, or another. */
export type Versus = 'prev' | 'last-week' | 'last-month' | Period;

const MONTHS: Readonly<Partial<Record<Period['unit'], number>>> = {
  month: 1,
  quarter: 3,
  year: 12,
};

/**
 * The days that a period is compared with. `prev` of a month, quarter or year, whole or to date, is
 * the one before, whole or through the same day; of anything else the same weekdays as few whole
 * weeks earlier as do not overlap, for credits of unequal weekdays cannot be compared. `last-month`
 * may give unequal weekdays, which the comparison then says. Source: docs/costs.md#comparisons.
 */
export function compared(period: Period, how: Versus, today: Day): Period {
  if (typeof how !== 'string') return how;
  const span = earlier(period, how);

  return {
    ...span,
    label: spanLabel(span, today),
    notes: [],
    unit: period.unit,
    lastFinalOnly: false,
  };
}

function earlier(period: Period, how: 'prev' | 'last-week' | 'last-month'): Span {
  if (how === 'last-week') return weeksBefore(period, 1);
  const months = how === 'last-month' ? 1 : MONTHS[period.unit];
  return months === undefined
    ? weeksBefore(period, Math.ceil(lengthOf(period) / 7))
    : monthsBefore(period, months);
}

function weeksBefore({ first, last }: Span, weeks: number): Span {
  return { first: addDays(first, -7 * weeks), last: addDays(last, -7 * weeks) };
}

/** A month that is over is held against a month that is over, even where that one is longer. */
function monthsBefore({ first, last }: Span, months: number): Span {
  const end = addMonths(last, -months);
  const isWhole = first.endsWith('-01') && last === monthSpan(monthOf(last)).last;
  return { first: addMonths(first, -months), last: isWhole ? monthSpan(monthOf(end)).last : end };
}
