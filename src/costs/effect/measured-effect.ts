import { addDays, type Day, daysBetween } from '../calendar/day.ts';
import { hodgesLehmann, winsorisedMean } from '../forecast/robust.ts';
import { historyOf, LEVEL_DAYS, settledDays } from '../forecast/series.ts';
import { profileOf, withoutWeekdays } from '../forecast/weekday.ts';
import type { DayValue } from '../ledger/row.ts';

export type MeasuredEffect =
  | {
      readonly ok: true;
      /** After beside before: 0.49 is −51%. To be called “about 80%” sure between the bounds. */
      readonly ratio: number;
      readonly low: number;
      readonly high: number;
      /** Credits of a mean day, weekdays evened out. */
      readonly before: number;
      readonly after: number;
      readonly beforeDays: number;
      readonly afterDays: number;
    }
  | { readonly ok: false; readonly why: UnmeasuredEffect };

export type UnmeasuredEffect = 'not-final-yet' | 'too-few-days-before' | 'nothing-to-compare';

const LEAST_BEFORE = 7;

/**
 * What a change did to a series, measured: the day of the change is left out, weekdays are evened
 * out by the profile of the time before, and ratio = exp(median of all ln(after / before)) of the
 * last 14 final days before and the first 3 or 7 after, between its ranks (robust.ts). They are
 * nominally 90% and hold in about 80%, for days resemble their neighbours. Every day after must
 * be final. `nothing-to-compare`: it cost mostly nothing before. Source: docs/costs.md#measured-effect.
 */
export function measuredEffect(
  series: readonly DayValue[],
  changedOn: Day,
  afterDays: 3 | 7,
): MeasuredEffect {
  const wanted = daysBetween(addDays(changedOn, 1), addDays(changedOn, afterDays));
  const later = settledDays(series.filter(({ day }) => wanted.includes(day)));
  if (later.length < afterDays) return { ok: false, why: 'not-final-yet' };

  const history = historyOf(series, changedOn);
  if (history.length < LEAST_BEFORE) return { ok: false, why: 'too-few-days-before' };

  const profile = profileOf(history);
  const before = withoutWeekdays(history.slice(-LEVEL_DAYS), profile);
  return compared(before, withoutWeekdays(later, profile));
}

function compared(before: readonly number[], after: readonly number[]): MeasuredEffect {
  const { by, low, high } = hodgesLehmann(before, after, logRatio);
  const [ratio, least, most] = [Math.exp(by), Math.exp(low), Math.exp(high)];
  if (![ratio, least, most].every(Number.isFinite)) return { ok: false, why: 'nothing-to-compare' };
  return {
    ok: true,
    ratio,
    low: least,
    high: most,
    before: winsorisedMean(before),
    after: winsorisedMean(after),
    beforeDays: before.length,
    afterDays: after.length,
  };
}

/** Nothing after is a ratio of zero, nothing on both sides no change. */
function logRatio(after: number, before: number): number {
  return after === before ? 0 : Math.log(after / before);
}
