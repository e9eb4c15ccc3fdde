import { lengthOf, type Span } from '../calendar/calendar.ts';
import { addDays, type Day, dayNumber, weekdayOf } from '../calendar/day.ts';

/** Why two spans cannot be held against each other. */
export type Unpaired = 'unequal-lengths' | 'unequal-weekdays' | 'no-common-final-days';

export type Pairing =
  | { readonly ok: true; readonly pairs: readonly Pair[]; readonly sameWeekdays: boolean }
  | { readonly ok: false; readonly why: Unpaired };

export interface Pair {
  readonly now: Day;
  readonly before: Day;
}

/**
 * Which day is held against which: the first against the first, and so on, as far as both are final.
 * Lengths and weekdays must be equal, or a Monday is told as a rise. Two spans that both begin on
 * the first of a month are taken as months: as many days as both have, with whatever weekdays.
 * Source: docs/costs.md#comparisons.
 */
export function paired(now: Span, before: Span, isFinal: (day: Day) => boolean): Pairing {
  const lengths = [lengthOf(now), lengthOf(before)] as const;
  const sameWeekdays = (dayNumber(now.first) - dayNumber(before.first)) % 7 === 0;
  if (!areMonths(now, before)) {
    if (lengths[0] !== lengths[1]) return { ok: false, why: 'unequal-lengths' };
    if (!sameWeekdays) return { ok: false, why: 'unequal-weekdays' };
  }
  const pairs = Array.from({ length: Math.min(...lengths) }, (_, index) => ({
    now: addDays(now.first, index),
    before: addDays(before.first, index),
  })).filter((pair) => isFinal(pair.now) && isFinal(pair.before));
  return pairs.length === 0
    ? { ok: false, why: 'no-common-final-days' }
    : { ok: true, pairs, sameWeekdays };
}

function areMonths(now: Span, before: Span): boolean {
  return now.first.endsWith('-01') && before.first.endsWith('-01');
}

/** Seven factors from Monday on, 1 on average: how dear each weekday usually is. */
export type WeekdayFactors = readonly number[];

/** How much dearer, by their weekdays alone, the days now are than those before; 1 is equal. */
export function weekdayMix(pairs: readonly Pair[], factors: WeekdayFactors): number {
  const sum = (days: readonly Day[]) =>
    days.reduce((all, day) => all + (factors[weekdayOf(day)] ?? 1), 0);
  return sum(pairs.map(({ now }) => now)) / sum(pairs.map(({ before }) => before));
}
