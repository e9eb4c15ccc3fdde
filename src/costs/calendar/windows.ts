import { addMonths, type Month, monthOf, monthSpan, type Span } from './calendar.ts';
import type { Day } from './day.ts';

/** The part of a period that lies in one calendar month: 31 days at most. */
export interface Window extends Span {
  readonly month: Month;
}

/**
 * A span cut at the ends of its calendar months, in order: together exactly its days, each piece at
 * most 31 of them, which is the most that one call of the usage report covers. What is fetched and
 * cached is the `month` of a piece, so that all periods share it. Source: docs/costs.md#fetching.
 */
export function windowsOf({ first, last }: Span): readonly Window[] {
  const windows: Window[] = [];
  for (let from = first; from <= last; ) {
    const month = monthOf(from);
    const end = monthSpan(month).last;
    windows.push({ month, first: from, last: end < last ? end : last });
    from = addMonths(`${month}-01`, 1);
  }
  return windows;
}

/** What one call asks for: the whole month, or, of the month in which today lies, so far. */
export function fetchSpan(month: Month, today: Day): Span {
  const { first, last } = monthSpan(month);
  return { first, last: last < today ? last : today };
}
