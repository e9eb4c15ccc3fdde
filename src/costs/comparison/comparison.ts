import { addMonths, type Span, startOf } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import { type DayValue, type Micro, microOf } from '../ledger/row.ts';
import { paired, type Unpaired, type WeekdayFactors, weekdayMix } from './pairing.ts';

export type Comparison =
  | { readonly ok: false; readonly why: Unpaired }
  | {
      readonly ok: true;
      /** How many days of each side were held against each other, all of them final. */
      readonly days: number;
      readonly now: Micro;
      readonly before: Micro;
      readonly delta: Micro;
      /** `delta / before`; null where that is below a credit and says nothing. */
      readonly relative: number | null;
      /** The same without what is owed to other weekdays; null where that is not worth a word. */
      readonly adjusted: number | null;
      readonly sameWeekdays: boolean;
    };

/** Credits of the side that percent are taken of. */
const BASELINE_AT_LEAST: Micro = microOf(1);
const MIX_DIFFERS_FROM = 0.03;

/**
 * What two spans cost, on the days that are final in both, from a series that has the days of both.
 * `delta = Σ now − Σ before` in millionths; `relative = delta / Σ before` from one credit on. For
 * months with other weekdays, where the usual weekdays are known and their mix differs by more than
 * 3%: `adjusted = (Σ now / Σf now) / (Σ before / Σf before) − 1`. Unequal lengths or weekdays, or
 * no day that is final in both, are refused by name. Source: docs/costs.md#comparisons.
 */
export function compare(
  series: readonly DayValue[],
  now: Span,
  before: Span,
  factors: WeekdayFactors | null = null,
): Comparison {
  const values = new Map(series.map((value) => [value.day, value]));
  const pairing = paired(now, before, (day) => values.get(day)?.final ?? false);
  if (!pairing.ok) return pairing;

  const { pairs, sameWeekdays } = pairing;
  const microOn = (day: Day) => microOf(values.get(day)?.value ?? 0);
  const sums = {
    now: pairs.reduce((sum, pair) => sum + microOn(pair.now), 0),
    before: pairs.reduce((sum, pair) => sum + microOn(pair.before), 0),
  };
  const mix = factors === null ? 1 : weekdayMix(pairs, factors);
  const relative = relativeOf(sums.now, sums.before);
  const adjusts = relative !== null && Math.abs(mix - 1) > MIX_DIFFERS_FROM;
  const adjusted = adjusts ? sums.now / sums.before / mix - 1 : null;
  const delta = sums.now - sums.before;
  return { ok: true, days: pairs.length, ...sums, delta, relative, adjusted, sameWeekdays };
}

/** The change as a fraction of what was; null where what was is below one credit. */
export function relativeOf(now: Micro, before: Micro): number | null {
  return before < BASELINE_AT_LEAST ? null : (now - before) / before;
}

/**
 * The month so far, through its last final day, and last month through the same day of the month.
 * `through` is null, and nothing compared, while the month of `today` has no final day.
 * Source: docs/costs.md#comparisons.
 */
export function monthToDate(
  series: readonly DayValue[],
  today: Day,
  factors: WeekdayFactors | null = null,
): { readonly through: Day | null; readonly comparison: Comparison } {
  const first = startOf('month', today);
  const through = series.reduce<Day | null>(
    (latest, { day, final }) =>
      final && day >= first && day <= today && (latest === null || day > latest) ? day : latest,
    null,
  );
  if (through === null) {
    return { through, comparison: { ok: false, why: 'no-common-final-days' } };
  }
  const before = { first: addMonths(first, -1), last: addMonths(through, -1) };
  return { through, comparison: compare(series, { first, last: through }, before, factors) };
}
