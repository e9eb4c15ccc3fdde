import { addDays, type Day, dayNumber } from '../calendar/day.ts';
import { median } from '../forecast/robust.ts';
import type { DayValue } from '../ledger/row.ts';

/** A time in which a service was stopped; `until` is exclusive. */
export interface StoppedTime {
  readonly from: Date;
  readonly until: Date;
  /** Whether a schedule stopped it. Other times only reduce the hours in which it ran. */
  readonly bySchedule: boolean;
}

export interface ScheduleSavings {
  /** The first and the last day of the seven final days. */
  readonly first: Day;
  readonly last: Day;
  readonly credits: number;
}

/** The days from which the rate of a running hour is learned. */
export const RATE_DAYS = 28;
const COUNTED_DAYS = 7;
const LEAST_RUNNING_H = 6;
const LEAST_RATES = 3;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The credits that the stops of a schedule saved in the last seven final days: each stopped hour counts
 * with the lowest compute of a running hour in the last 28 days. A day never counts more than a whole
 * day at the median rate would have cost, less its own costs. Null without three days with a rate.
 * Source: docs/costs.md#savings-of-schedules.
 */
export function scheduleSavings(
  compute: readonly DayValue[],
  stopped: readonly StoppedTime[],
  today: Day,
): ScheduleSavings | null {
  const final = compute.filter((one) => one.final && one.day >= addDays(today, -RATE_DAYS));
  const last = final
    .map(({ day }) => day)
    .toSorted()
    .at(-1);
  if (last === undefined) return null;
  const rates = final.flatMap(({ day, value }) => {
    const running = 24 - hoursOf(stopped, day);
    return running >= LEAST_RUNNING_H ? [value / running] : [];
  });
  if (rates.length < LEAST_RATES) return null;
  const [lowest, usual] = [Math.min(...rates), median(rates)];
  const first = addDays(last, 1 - COUNTED_DAYS);
  const own = stopped.filter(({ bySchedule }) => bySchedule);
  const saved = final
    .filter(({ day }) => day >= first)
    .map(({ day, value }) => Math.min(hoursOf(own, day) * lowest, 24 * usual - value));
  const credits = saved.filter((one) => one > 0).reduce((sum, one) => sum + one, 0);
  return credits > 0 ? { first, last, credits } : null;
}

function hoursOf(times: readonly StoppedTime[], day: Day): number {
  const begin = dayNumber(day) * DAY_MS;
  const hours = times.map(({ from, until }) => {
    const ms = Math.min(until.getTime(), begin + DAY_MS) - Math.max(from.getTime(), begin);
    return Math.max(0, ms) / HOUR_MS;
  });
  return hours.reduce((sum, one) => sum + one, 0);
}
