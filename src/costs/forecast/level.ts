import { median, winsorisedMean } from './robust.ts';
import { LEVEL_DAYS, type SettledDay } from './series.ts';
import { profileOf, type WeekdayProfile, withoutWeekdays } from './weekday.ts';

export interface SpendLevel {
  /** Credits of a mean day, weekdays evened out. */
  readonly value: number;
  readonly profile: WeekdayProfile;
  /** How many of the latest final days it rests on: 14, or those since a shift. */
  readonly days: number;
  readonly shifted: boolean;
}

const SHORTEST_SHIFT = 3;
const LONGEST_SHIFT = 10;
const LEAST_SHIFT = 0.15;

/**
 * What a day costs as things are: x = y / f, then the winsorised mean of the last 14 of x. If the
 * last 3 … 10 of them lie all above (or all below) each of the 14 before, and the medians differ
 * by at least 15%, only the days since count; that three do so by luck is 1 in 680.
 * Expects settled days in order. Source: docs/costs.md#level.
 */
export function levelOf(days: readonly SettledDay[]): SpendLevel {
  const profile = profileOf(days);
  const evened = withoutWeekdays(days, profile);
  const since = daysSinceShift(evened);
  const window = evened.slice(-(since ?? LEVEL_DAYS));
  return {
    value: winsorisedMean(window),
    profile,
    days: window.length,
    shifted: since !== null,
  };
}

function daysSinceShift(values: readonly number[]): number | null {
  for (let count = LONGEST_SHIFT; count >= SHORTEST_SHIFT; count -= 1) {
    const before = values.slice(-count - LEVEL_DAYS, -count);
    if (before.length === LEVEL_DAYS && isShift(before, values.slice(-count))) return count;
  }
  return null;
}

function isShift(before: readonly number[], since: readonly number[]): boolean {
  const above = Math.min(...since) > Math.max(...before);
  const below = Math.max(...since) < Math.min(...before);
  const middle = median(before);
  return (above || below) && Math.abs(median(since) - middle) >= LEAST_SHIFT * middle;
}
