import { addMonths, type Span, startOf } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import { type DayValue, type Micro, microOf } from '../ledger/row.ts';
import { isSettled } from '../locking/open-day.ts';
import { type Money, moneyDifference, moneyOf } from '../money/money.ts';
import { type DayPair, type PairingProblem, pairDays } from './day-pairs.ts';

export type Comparison =
  | { readonly ok: false; readonly why: PairingProblem }
  | {
      readonly ok: true;
      /** The number of compared days of each span, all settled. */
      readonly days: number;
      /** The number of these pairs in which a day is not locked. */
      readonly notLocked: number;
      readonly now: Micro;
      readonly before: Micro;
      readonly delta: Micro;
      readonly money: Readonly<Record<'now' | 'before' | 'delta', Money | null>>;
      /** `delta / before`; null if `before` is below one credit. */
      readonly relative: number | null;
      readonly sameWeekdays: boolean;
    };

/** Percentages of less than one credit are not meaningful. */
const BASELINE_AT_LEAST: Micro = microOf(1);

/**
 * Compares the costs of two spans on the days that are settled in both. `series` contains both spans.
 * `delta = Σ now − Σ before` in millionths; `relative = delta / Σ before` from one credit on. Not
 * possible for unequal lengths or weekdays, or without a day that is settled in both.
 * Source: docs/costs.md#comparisons.
 */
export function compare(series: readonly DayValue[], now: Span, before: Span): Comparison {
  const values = new Map(series.map((value) => [value.day, value]));
  const settled = new Set(series.filter(isSettled).map(({ day }) => day));
  const pairing = pairDays(now, before, (day) => settled.has(day));
  if (!pairing.ok) return pairing;

  const { pairs, sameWeekdays } = pairing;
  const microOn = (day: Day) => microOf(values.get(day)?.value ?? 0);
  const sumOf = (side: keyof DayPair) => pairs.reduce((sum, pair) => sum + microOn(pair[side]), 0);
  const sums = { now: sumOf('now'), before: sumOf('before') };
  const moneyIn = (side: keyof DayPair) =>
    moneyOf(pairs.map((pair) => [values.get(pair[side])?.price, microOn(pair[side])]));
  const priced = { now: moneyIn('now'), before: moneyIn('before') };
  const money = { ...priced, delta: moneyDifference(priced.now, priced.before) };
  const relative = relativeOf(sums.now, sums.before);
  const delta = sums.now - sums.before;
  const isFinal = (day: Day) => values.get(day)?.final ?? false;
  const notLocked = pairs.filter((pair) => !isFinal(pair.now) || !isFinal(pair.before)).length;
  return { ok: true, days: pairs.length, notLocked, ...sums, delta, money, relative, sameWeekdays };
}

/** The change as a fraction of `before`; null if `before` is below one credit. */
export function relativeOf(now: Micro, before: Micro): number | null {
  return before < BASELINE_AT_LEAST ? null : (now - before) / before;
}

/**
 * Compares the month so far, through its last settled day, with the previous month through the same
 * day. `through` is null if the month of `today` has no settled day.
 * Source: docs/costs.md#comparisons.
 */
export function monthToDate(
  series: readonly DayValue[],
  today: Day,
): { readonly through: Day | null; readonly comparison: Comparison } {
  const first = startOf('month', today);
  const through = series
    .filter(isSettled)
    .reduce<Day | null>(
      (latest, { day }) =>
        day >= first && day <= today && (latest === null || day > latest) ? day : latest,
      null,
    );
  if (through === null) {
    return { through, comparison: { ok: false, why: 'no-common-settled-days' } };
  }
  const before = { first: addMonths(first, -1), last: addMonths(through, -1) };
  return { through, comparison: compare(series, { first, last: through }, before) };
}
