import { median, winsorisedMean } from './robust.ts';
import { LEVEL_DAYS, type SettledDay } from './series.ts';
import { profileOf, type WeekdayProfile, withoutWeekdays } from './weekday.ts';

export interface SpendLevel {
  /** Credits per day, adjusted for weekdays. */
  readonly value: number;
  readonly profile: WeekdayProfile;
  /** The number of settled days used: 14, or those since a shift. */
  readonly days: number;
  readonly shifted: boolean;
}

const SHORTEST_SHIFT = 3;
const LONGEST_SHIFT = 10;
const LEAST_SHIFT = 0.15;

/**
 * The current cost per day: x = y / f, then the winsorised mean of the last 14 of x. If the last
 * 3 … 10 of them are all above (or all below) each of the 14 before, and the medians differ by at
 * least 15%, only these days count; three do so by chance in 1 of 680 cases.
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
