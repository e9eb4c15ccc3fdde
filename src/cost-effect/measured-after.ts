import { addDays, type Day } from '../costs/calendar/day.ts';
import { measuredEffect } from '../costs/effect/measured-effect.ts';
import { mean } from '../costs/forecast/robust.ts';
import { historyOf, LEVEL_DAYS } from '../costs/forecast/series.ts';
import type { DayValue } from '../costs/ledger/row.ts';

/** What came of a change, measured; credits of compute a day. */
export interface MeasuredAfter {
  readonly days: 3 | 7;
  readonly before: number;
  readonly after: number;
  /** After beside before; null where it cost nothing before. */
  readonly ratio: { readonly about: number; readonly low: number; readonly high: number } | null;
}

/**
 * `later`: some of the days can still change. `never`: there is nothing to compare with. Days up to
 * `heldFrom` do not count, for another change of the same target ran on it.
 */
export function measureAfter(
  series: readonly DayValue[],
  changedOn: Day,
  days: 3 | 7,
  heldFrom: Day | null,
): MeasuredAfter | 'later' | 'never' {
  const held = series.filter(({ day }) => heldFrom === null || day > heldFrom);
  const measured = measuredEffect(held, changedOn, days);
  if (measured.ok && measured.before > 0) {
    const { before, after, ratio: about, low, high } = measured;
    return { days, before, after, ratio: { about, low, high } };
  }
  if (!measured.ok && measured.why === 'not-final-yet') return 'later';
  if (!measured.ok && measured.why === 'too-few-days-before') return 'never';
  return fromNothing(held, changedOn, days);
}

/** A service that mostly stood still has no ratio, but it can be said what it costs since. */
function fromNothing(
  series: readonly DayValue[],
  changedOn: Day,
  days: 3 | 7,
): MeasuredAfter | 'never' {
  const before = mean(historyOf(series, changedOn).slice(-LEVEL_DAYS).map(creditsOn));
  const last = addDays(changedOn, days);
  const later = series.filter(({ day }) => day > changedOn && day <= last);
  const after = mean(later.map(creditsOn));
  return after > 0 ? { days, before, after, ratio: null } : 'never';
}

function creditsOn({ value }: DayValue): number {
  return value;
}
