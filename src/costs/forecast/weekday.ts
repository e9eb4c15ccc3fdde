import { type Day, weekdayOf } from '../../base/time.ts';
import type { DayValue } from '../ledger/row.ts';
import { mad, mean, median } from './robust.ts';
import { type SettledDay, settledDays } from './series.ts';

/** The relative cost of each weekday, from Monday to Sunday; the mean of the seven is 1. */
export type WeekdayProfile = readonly number[];

export const FLAT: WeekdayProfile = [1, 1, 1, 1, 1, 1, 1];

const WEEK = 7;
/** Two whole weeks: with less, every factor would depend on one day. */
const LEAST_DAYS = 14;
/** The factor of a weekday without usage: division by a smaller one would exaggerate small values. */
const LEAST_RATIO = 0.02;
const MAD_TO_SIGMA = 1.4826;

/**
 * The weekday profile f, without units. From r = ln(y / mean of the seven days around y):
 * m = median of r on that weekday, s = the larger of its own and the pooled 1.4826 · MAD, n = its
 * days; ln f = m · m² / (m² + s²/n). A weekday that differs clearly from noise keeps its factor;
 * another gets a factor near 1. Flat with fewer than 14 settled days.
 * Source: docs/costs.md#weekday-profile.
 */
export function weekdayProfile(series: readonly DayValue[]): WeekdayProfile {
  return profileOf(settledDays(series));
}

/** The profile of settled days. */
export function profileOf(days: readonly SettledDay[]): WeekdayProfile {
  if (days.length < LEAST_DAYS) return FLAT;

  const groups = ratiosByWeekday(days).map((ratios) => ({ ratios, middle: median(ratios) }));
  const pooled = mad(groups.flatMap(({ ratios, middle }) => ratios.map((ratio) => ratio - middle)));
  const factors = groups.map((group) => Math.exp(shrunk(group, pooled)));
  const middle = mean(factors);
  return factors.map((factor) => factor / middle);
}

export function factorOn(profile: WeekdayProfile, day: Day): number {
  return profile[weekdayOf(day)] ?? 1;
}

/** The costs of the days adjusted for weekdays: x = y / f. */
export function withoutWeekdays(
  days: readonly SettledDay[],
  profile: WeekdayProfile,
): readonly number[] {
  return days.map(({ weekday, value }) => value / (profile[weekday] ?? 1));
}

function ratiosByWeekday(days: readonly SettledDay[]): readonly (readonly number[])[] {
  const values = days.map(({ value }) => value);
  const groups: number[][] = FLAT.map(() => []);
  days.forEach(({ weekday, value }, index) => {
    const around = meanAround(values, index);
    const ratio = around > 0 ? Math.max(value / around, LEAST_RATIO) : 1;
    groups[weekday]?.push(Math.log(ratio));
  });
  return groups;
}

/** The mean of the seven days around a day; near an end, of the first or last seven: each weekday counts once. */
function meanAround(values: readonly number[], index: number): number {
  const start = Math.min(Math.max(0, index - 3), values.length - WEEK);
  let total = 0;
  for (let at = start; at < start + WEEK; at += 1) total += values[at] ?? 0;
  return total / WEEK;
}

interface WeekdayRatios {
  readonly ratios: readonly number[];
  /** Their median. */
  readonly middle: number;
}

function shrunk({ ratios, middle }: WeekdayRatios, pooled: number): number {
  if (ratios.length < 2 || middle === 0) return 0;
  const sigma = MAD_TO_SIGMA * Math.max(pooled, mad(ratios, middle));
  return middle ** 3 / (middle ** 2 + sigma ** 2 / ratios.length);
}
