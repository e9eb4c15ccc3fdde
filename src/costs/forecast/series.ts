import { type Day, weekdayOf } from '../calendar/day.ts';
import type { DayValue } from '../ledger/row.ts';

/** Two whole months before the current one; a longer past says little about tomorrow. */
export const HISTORY_DAYS = 56;
/** What a level is taken from: two whole weeks. */
export const LEVEL_DAYS = 14;
/** With fewer final days there is neither a forecast nor a test. */
export const LEAST_DAYS = 10;

/** Whether a value is one that can be cost: finite and not negative. */
export function isCost(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

/** A day whose weekday was looked up once: statistics ask for it many times over. */
export interface SettledDay extends DayValue {
  readonly weekday: number;
}

/**
 * The days that statistics may rest on, in their order: final, and of a value that can be cost.
 * A refund or a figure that is none is left out, like a day without data. Expects one value a day.
 */
export function settledDays(
  series: readonly DayValue[],
  most = Number.POSITIVE_INFINITY,
): readonly SettledDay[] {
  const days = series.filter(({ value, final }) => final && isCost(value));
  const latest = days.sort((a, b) => (a.day < b.day ? -1 : 1)).slice(-most);
  return latest.map((day) => ({ ...day, weekday: weekdayOf(day.day) }));
}

/** The settled days before this one, as many of the latest as are of use. */
export function historyOf(series: readonly DayValue[], before: Day): readonly SettledDay[] {
  return settledDays(
    series.filter(({ day }) => day < before),
    HISTORY_DAYS,
  );
}
