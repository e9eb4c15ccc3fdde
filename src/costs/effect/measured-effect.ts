import { addDays, type Day, daysBetween } from '../../base/time.ts';
import { hodgesLehmann, winsorisedMean } from '../forecast/robust.ts';
import { historyOf, LEVEL_DAYS, settledDays } from '../forecast/series.ts';
import { profileOf, withoutWeekdays } from '../forecast/weekday.ts';
import type { DayValue } from '../ledger/row.ts';

export type MeasuredEffect =
  | {
      readonly ok: true;
      /** `after / before`: 0.49 is −51%. `low` to `high` is an interval of about 80%. */
      readonly ratio: number;
      readonly low: number;
      readonly high: number;
      /** Credits per day, adjusted for weekdays. */
      readonly before: number;
      readonly after: number;
      readonly beforeDays: number;
      readonly afterDays: number;
    }
  | { readonly ok: false; readonly why: UnmeasuredEffect };

type UnmeasuredEffect = 'not-settled-yet' | 'too-few-days-before' | 'nothing-to-compare';

const LEAST_BEFORE = 7;

/**
 * The measured effect of a change on a series, adjusted for weekdays and without the day of the
 * change. ratio = exp(median of all ln(after / before)) of the last 14 settled days before and the
 * first 3 or 7 days after, which must all be settled. The interval (robust.ts) is nominally 90% and
 * holds in about 80% of cases, because consecutive days are similar. `nothing-to-compare`: most days
 * before had no cost. Source: docs/costs.md#measured-effect.
 */
export function measuredEffect(
  series: readonly DayValue[],
  changedOn: Day,
  afterDays: 3 | 7,
): MeasuredEffect {
  const wanted = daysBetween(addDays(changedOn, 1), addDays(changedOn, afterDays));
  const later = settledDays(series.filter(({ day }) => wanted.includes(day)));
  if (later.length < afterDays) return { ok: false, why: 'not-settled-yet' };

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

/** No cost after is a ratio of 0; no cost on both sides is no change. */
function logRatio(after: number, before: number): number {
  return after === before ? 0 : Math.log(after / before);
}
