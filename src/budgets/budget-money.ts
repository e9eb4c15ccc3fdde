import type { Span } from '../costs/calendar/calendar.ts';
import { within } from '../costs/calendar/calendar.ts';
import { type Day, daysBetween } from '../costs/calendar/day.ts';
import type { Forecast } from '../costs/forecast/forecast.ts';
import { forecastMoney } from '../costs/forecast/forecast-money.ts';
import { type DayValue, microOf, moneyOfDay } from '../costs/ledger/row.ts';
import { type Money, moneyOf, moneyOver, moneySum } from '../costs/money/money.ts';
import { type PriceList, priceOn } from '../costs/money/price.ts';

/** The figures of a budget in money; null where a price is missing. */
export interface BudgetMoney {
  readonly amount: Money | null;
  readonly spent: Money | null;
  /** The expected total with the bounds of its interval. */
  readonly forecast: readonly [Money | null, Money | null, Money | null] | null;
  /** Credits per day at the current price. */
  readonly perDay: (credits: number) => Money | null;
}

interface BudgetDays {
  readonly series: readonly DayValue[];
  readonly period: Span;
  readonly forecast: Forecast;
  readonly today: Day;
}

/** The amount is spread evenly over the days of the period. Source: docs/costs.md#money. */
export function budgetMoney(
  credits: number,
  { series, period, forecast, today }: BudgetDays,
  prices: PriceList | null,
): BudgetMoney | null {
  if (prices === null) return null;
  const own = within(series, { first: period.first, last: today });
  const end = (total: number) => forecastMoney(total, series, period, prices);
  return {
    amount: moneyOver(microOf(credits), daysBetween(period.first, period.last), prices),
    spent: moneySum(own.map(moneyOfDay)),
    forecast: forecast.ok ? [end(forecast.total), end(forecast.low), end(forecast.high)] : null,
    perDay: (perDay) => moneyOf([[priceOn(prices, today), microOf(perDay)]]),
  };
}
