import { lengthOf, type Span } from '../../base/calendar.ts';
import { addDays, type Day, dayNumber } from '../../base/time.ts';

/** Why two spans cannot be compared. */
export type PairingProblem = 'unequal-lengths' | 'unequal-weekdays' | 'no-common-settled-days';

type DayPairs =
  | { readonly ok: true; readonly pairs: readonly DayPair[]; readonly sameWeekdays: boolean }
  | { readonly ok: false; readonly why: PairingProblem };

export interface DayPair {
  readonly now: Day;
  readonly before: Day;
}

/**
 * Pairs the days of two spans in order and keeps the pairs in which both days are settled. Lengths and
 * weekdays must be equal; otherwise a Monday would appear as an increase. Two spans that begin on the
 * first of a month are months: as many days as both have, with any weekdays.
 * Source: docs/costs.md#comparisons.
 */
export function pairDays(now: Span, before: Span, isSettled: (day: Day) => boolean): DayPairs {
  const lengths = [lengthOf(now), lengthOf(before)] as const;
  const sameWeekdays = (dayNumber(now.first) - dayNumber(before.first)) % 7 === 0;
  if (!areMonths(now, before)) {
    if (lengths[0] !== lengths[1]) return { ok: false, why: 'unequal-lengths' };
    if (!sameWeekdays) return { ok: false, why: 'unequal-weekdays' };
  }
  const pairs = Array.from({ length: Math.min(...lengths) }, (_, index) => ({
    now: addDays(now.first, index),
    before: addDays(before.first, index),
  })).filter((pair) => isSettled(pair.now) && isSettled(pair.before));
  return pairs.length === 0
    ? { ok: false, why: 'no-common-settled-days' }
    : { ok: true, pairs, sameWeekdays };
}

function areMonths(now: Span, before: Span): boolean {
  return now.first.endsWith('-01') && before.first.endsWith('-01');
}
