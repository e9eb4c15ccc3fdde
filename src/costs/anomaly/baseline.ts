import type { Day } from '../../base/time.ts';
import { median } from '../forecast/robust.ts';
import { LEVEL_DAYS, type SettledDay } from '../forecast/series.ts';
import { factorOn, profileOf, type WeekdayProfile, withoutWeekdays } from '../forecast/weekday.ts';

/** What a day is compared with: the level of the two weeks before it, by weekday. */
export interface Baseline {
  readonly days: readonly SettledDay[];
  readonly profile: WeekdayProfile;
  /** Past days adjusted for weekdays: x = y / f. */
  readonly evened: readonly number[];
  /** Credits per day: the median of the last 14 of x. */
  readonly level: number;
  /** a, credits: added before any logarithm, so that zeros and small values have little effect. */
  readonly offset: number;
}

/** The deviation of days from their expected cost, in logarithms. */
interface Deviation {
  readonly sigma: number;
  /** The second largest of the past, because a bursty line had deviations like this before. */
  readonly before: number;
}

const LEAST_SIGMA = 0.06;
const MAD_TO_SIGMA = 1.4826;

/** Expects settled days in order; a = minImpact / 2. */
export function baselineOf(days: readonly SettledDay[], minImpact: number): Baseline {
  const profile = profileOf(days);
  const evened = withoutWeekdays(days, profile);
  const level = median(evened.slice(-LEVEL_DAYS));
  return { days, profile, evened, level, offset: minImpact / 2 };
}

export function expectedOn({ level, profile }: Baseline, day: Day): number {
  return level * factorOn(profile, day);
}

/**
 * e = ln((y + a) / (median of the 14 of x up to that day · f + a)), because costs grow by factors;
 * sigma = max(1.4826 · median|e|, 0.06). Source: docs/costs.md#baseline.
 */
export function deviationOf({ days, profile, evened, offset }: Baseline): Deviation {
  const deviations = days.map(({ weekday, value }, index) => {
    const usual = median(backFrom(evened, index)) * (profile[weekday] ?? 1);
    return Math.abs(Math.log((value + offset) / (usual + offset)));
  });
  return {
    sigma: Math.max(MAD_TO_SIGMA * median(deviations), LEAST_SIGMA),
    before: deviations.toSorted((a, b) => b - a)[1] ?? 0,
  };
}

/** The two weeks that end with the day: the same window as for the judged day. */
function backFrom(values: readonly number[], index: number): readonly number[] {
  return values.slice(Math.max(0, index - LEVEL_DAYS + 1)).slice(0, LEVEL_DAYS);
}
