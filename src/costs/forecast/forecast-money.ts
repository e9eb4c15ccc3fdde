import { type Span, within } from '../../base/calendar.ts';
import { daysBetween } from '../../base/time.ts';
import { type DayValue, microOf } from '../ledger/row.ts';
import { isSettled } from '../locking/open-day.ts';
import { type Money, moneyOf, moneyOver, moneySum } from '../money/money.ts';
import type { PriceList } from '../money/price.ts';

/**
 * The money of forecast credits of a span: settled days at their own price, and the rest spread
 * evenly over the other days. Source: docs/costs.md#money.
 */
export function forecastMoney(
  credits: number,
  series: readonly DayValue[],
  { first, last }: Span,
  prices: PriceList | null,
): Money | null {
  const settled = within(series, { first, last }).filter(isSettled);
  const known = new Set(settled.map(({ day }) => day));
  // A forecast does not count the days before the first reported one.
  const begin = series.reduce((least, { day }) => (day < least ? day : least), last);
  const open = daysBetween(first, last).filter((day) => day >= begin && !known.has(day));
  const parts = settled.map(({ price, value }) => [price, microOf(value)] as const);
  const rest = parts.reduce((left, [, micro]) => left - micro, microOf(credits));
  return moneySum([
    parts.length > 0 ? moneyOf(parts) : undefined,
    open.length > 0 ? moneyOver(rest, open, prices) : undefined,
  ]);
}
