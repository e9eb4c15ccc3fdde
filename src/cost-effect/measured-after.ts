import { addDays, type Day } from '../base/time.ts';
import { measuredEffect } from '../maths/effect.ts';
import { mean } from '../maths/numbers.ts';
import type { DayValue } from '../maths/rows.ts';
import { historyOf, LEVEL_DAYS } from '../maths/statistics.ts';

/** The measured effect of a change, in credits of compute per day. */
export interface MeasuredAfter {
  readonly days: 3 | 7;
  readonly before: number;
  readonly after: number;
  /** `after / before`, with an 80% interval; null where it cost nothing before. */
  readonly ratio: { readonly about: number; readonly low: number; readonly high: number } | null;
}

/**
 * Measures a change over its first 3 or 7 days. Null while some of them are not settled, and with
 * nothing to compare with. Days up to `heldFrom` do not count: another change ran on that day.
 */
export function measureAfter(
  series: readonly DayValue[],
  changedOn: Day,
  days: 3 | 7,
  heldFrom: Day | null,
): MeasuredAfter | null {
  const held = series.filter(({ day }) => heldFrom === null || day > heldFrom);
  const measured = measuredEffect(held, changedOn, days);
  if (measured.ok && measured.before > 0) {
    const { before, after, ratio: about, low, high } = measured;
    return { days, before, after, ratio: { about, low, high } };
  }
  if (!measured.ok && measured.why !== 'nothing-to-compare') return null;
  return fromNothing(held, changedOn, days);
}

/** A service that was stopped before has no ratio, only the cost since. */
function fromNothing(
  series: readonly DayValue[],
  changedOn: Day,
  days: 3 | 7,
): MeasuredAfter | null {
  const before = mean(historyOf(series, changedOn).slice(-LEVEL_DAYS).map(creditsOn));
  const last = addDays(changedOn, days);
  const since = series.filter(({ day }) => day > changedOn && day <= last);
  const after = mean(since.map(creditsOn));
  return after > 0 ? { days, before, after, ratio: null } : null;
}

function creditsOn({ value }: DayValue): number {
  return value;
}
