import { type Day, weekdayOf } from '../base/time.ts';
import { isSettled } from './days.ts';
import { MAD_TO_SIGMA, mad, mean, median, winsorisedMean } from './numbers.ts';
import type { DayValue } from './rows.ts';

// The days that statistics use, their weekdays and their level: one model of a line of costs.

/** Eight weeks; older days say little about the near future. */
export const HISTORY_DAYS = 56;
/** The days to read so that about eight weeks of them are settled: the last two may be open. */
export const SETTLED_HISTORY_DAYS = HISTORY_DAYS + 14;
/** The days of a level: two whole weeks. */
export const LEVEL_DAYS = 14;
/** With fewer settled days there is no forecast and no anomaly test. */
export const LEAST_DAYS = 10;

/** Whether a value can be a cost: finite and not negative. */
export function isCost(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

/** A day with its weekday, which is computed once because statistics use it often. */
export interface SettledDay extends DayValue {
  readonly weekday: number;
}

/**
 * The days that statistics use, in order: final or settled, and with a value that can be a cost.
 * Refunds and invalid figures are left out, like days without data. Expects one value per day.
 */
export function settledDays(
  series: readonly DayValue[],
  most = Number.POSITIVE_INFINITY,
): readonly SettledDay[] {
  const days = series.filter((day) => isSettled(day) && isCost(day.value));
  const latest = days.sort((a, b) => (a.day < b.day ? -1 : 1)).slice(-most);
  return latest.map((day) => ({ ...day, weekday: weekdayOf(day.day) }));
}

/** The last settled days before this day, at most `HISTORY_DAYS`. */
export function historyOf(series: readonly DayValue[], before: Day): readonly SettledDay[] {
  return daysBefore(settledDays(series), before);
}

/** Like `historyOf`, for days that are settled and in order. */
export function daysBefore(days: readonly SettledDay[], before: Day): readonly SettledDay[] {
  const end = days.findLastIndex(({ day }) => day < before) + 1;
  return days.slice(Math.max(0, end - HISTORY_DAYS), end);
}

/** The relative cost of each weekday, from Monday to Sunday; the mean of the seven is 1. */
export type WeekdayProfile = readonly number[];

export const FLAT: WeekdayProfile = [1, 1, 1, 1, 1, 1, 1];

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

/** Two whole weeks: with less, every factor would depend on one day. */
const LEAST_PROFILE_DAYS = 14;

/** The profile of settled days. */
export function profileOf(days: readonly SettledDay[]): WeekdayProfile {
  if (days.length < LEAST_PROFILE_DAYS) return FLAT;

  const groups = ratiosByWeekday(days).map((ratios) => ({ ratios, middle: median(ratios) }));
  const pooled = mad(groups.flatMap(({ ratios, middle }) => ratios.map((ratio) => ratio - middle)));
  const factors = groups.map((group) => Math.exp(shrunk(group, pooled)));
  const middle = mean(factors);
  return factors.map((factor) => factor / middle);
}

/** The factor of a weekday without usage: division by a smaller one would exaggerate small values. */
const LEAST_RATIO = 0.02;

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

const WEEK = 7;

/**
 * The mean of the seven days around a day; near an end, of the first or last seven: each weekday
 * counts once.
 */
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

export interface SpendLevel {
  /** Credits per day, adjusted for weekdays. */
  readonly value: number;
  readonly profile: WeekdayProfile;
  /** The number of settled days used: 14, or those since a shift. */
  readonly days: number;
  readonly shifted: boolean;
}

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

const SHORTEST_SHIFT = 3;
const LONGEST_SHIFT = 10;
const LEAST_SHIFT = 0.15;

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
