import { type Day, weekdayOf } from '../../base/time.ts';
import type { DayValue } from '../ledger/row.ts';
import { isSettled } from '../locking/open-day.ts';

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
 * The days that statistics use, in order: final or settled, and with a value that can be a cost. Refunds and
 * invalid figures are left out, like days without data. Expects one value per day.
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
