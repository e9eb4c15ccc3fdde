import { addDays, type Day, daysBetween } from '../../base/time.ts';
import { isSettled } from '../../maths/days.ts';
import { daysOfMonth } from '../../maths/forecast.ts';
import { sum } from '../../maths/numbers.ts';
import type { DayValue } from '../../maths/rows.ts';
import { factorOn, historyOf, type WeekdayProfile } from '../../maths/statistics.ts';

export interface BudgetPace {
  /** Credits that the plan allows from the first of the month through that day. */
  readonly plan: number;
  /** Credits of the settled days up to it. */
  readonly spent: number;
  /** spent / plan; above 1, the spend is ahead of the plan. Null if the plan is 0. */
  readonly ratio: number | null;
}

/** plan_d = amount · f_w / Σ f over the days of its month; credits, like the amount. */
export function planOn(amount: number, profile: WeekdayProfile, day: Day): number {
  const factors = daysOfMonth(day).map((one) => factorOn(profile, one));
  return (amount * factorOn(profile, day)) / sum(factors);
}

/** Only settled days count, in the plan as well as in the spend. */
export function paceOf(
  amount: number,
  profile: WeekdayProfile,
  series: readonly DayValue[],
  lastSettled: Day,
): BudgetPace {
  const month = daysBetween(`${lastSettled.slice(0, 7)}-01`, lastSettled);
  return paceOver(amount, profile, series, month);
}

function paceOver(
  amount: number,
  profile: WeekdayProfile,
  series: readonly DayValue[],
  days: readonly Day[],
): BudgetPace {
  const counted = series.filter((value) => isSettled(value) && days.includes(value.day));
  const plan = sum(counted.map(({ day }) => planOn(amount, profile, day)));
  const spent = sum(counted.map(({ value }) => value));
  return { plan, spent, ratio: plan > 0 ? spent / plan : null };
}

export interface Burn {
  readonly kind: 'fast' | 'slow';
  /** The spend relative to the plan, in the last 1, 3 and 7 settled days. */
  readonly rates: readonly [number, number, number];
}

const BURN_DAYS = [1, 3, 7] as const;

/**
 * b_w = spent / planned over the last w settled days. Fast: b_1 ≥ 2 and b_3 ≥ 1.5. Slow: b_7 ≥ 1.3
 * and the forecast is above the amount. Null: neither, or fewer than 7 settled days up to `last`.
 * Source: docs/costs.md#budgets.
 */
export function burnOf(
  { amount, profile }: { readonly amount: number; readonly profile: WeekdayProfile },
  series: readonly DayValue[],
  last: Day,
  forecast: number | null,
): Burn | null {
  const history = historyOf(series, addDays(last, 1));
  if (history.length < 7) return null;
  const [one, three, seven] = BURN_DAYS.map((count) => {
    const days = history.slice(-count).map(({ day }) => day);
    return paceOver(amount, profile, history, days).ratio ?? 0;
  });
  if (one === undefined || three === undefined || seven === undefined) return null;
  const rates = [one, three, seven] as const;
  if (one >= 2 && three >= 1.5) return { kind: 'fast', rates };
  return seven >= 1.3 && (forecast ?? 0) > amount ? { kind: 'slow', rates } : null;
}
