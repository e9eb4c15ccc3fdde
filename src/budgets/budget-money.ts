import type { Span } from '../base/calendar.ts';
import { within } from '../base/calendar.ts';
import { type Day, daysBetween } from '../base/time.ts';
import type { BudgetPace } from '../costs/budget/budget.ts';
import { isSettled } from '../maths/days.ts';
import type { Forecast } from '../maths/forecast.ts';
import { forecastMoney } from '../maths/forecast.ts';
import type { PriceList } from '../maths/money.ts';
import { type Money, moneyOver, moneySum } from '../maths/money.ts';
import { type DayValue, microOf, moneyOfDay } from '../maths/rows.ts';

/** The figures of a budget in money; null where a price is missing. */
export interface BudgetMoney {
  readonly amount: Money | null;
  readonly spent: Money | null;
  /** The part of `spent` that is not final. */
  readonly preliminary: Money | null;
  /** Of the settled days of the month: what the plan allows, and what was spent. */
  readonly pace: { readonly spent: Money | null; readonly plan: Money | null } | null;
  /** The expected total with the bounds of its interval. */
  readonly forecast: readonly [Money | null, Money | null, Money | null] | null;
}

interface BudgetDays {
  readonly series: readonly DayValue[];
  readonly period: Span;
  readonly forecast: Forecast;
  readonly today: Day;
  /** Null until a day of the month is settled. */
  readonly pace: BudgetPace | null;
}

/** The amount and the plan are spread evenly over their days. Source: docs/costs.md#money. */
export function budgetMoney(
  credits: number,
  { series, period, forecast, today, pace }: BudgetDays,
  prices: PriceList | null,
): BudgetMoney | null {
  if (prices === null) return null;
  const own = within(series, { first: period.first, last: today });
  const end = (total: number) => forecastMoney(total, series, period, prices);
  return {
    amount: moneyOver(microOf(credits), daysBetween(period.first, period.last), prices),
    spent: moneySum(own.map(moneyOfDay)),
    preliminary: moneySum(own.filter(({ final }) => !final).map(moneyOfDay)),
    pace: pace && paceMoney(pace, own.filter(isSettled), prices),
    forecast: forecast.ok ? [end(forecast.total), end(forecast.low), end(forecast.high)] : null,
  };
}

function paceMoney({ plan }: BudgetPace, settled: readonly DayValue[], prices: PriceList) {
  const days = settled.map(({ day }) => day);
  return {
    spent: moneySum(settled.map(moneyOfDay)),
    plan: moneyOver(microOf(plan), days, prices),
  };
}
