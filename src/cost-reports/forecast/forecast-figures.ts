import { addMonths, type Span, startOf } from '../../base/calendar.ts';
import { addDays, type Day } from '../../base/time.ts';
import { dayStates, statesWithin } from '../../maths/days.ts';
import { type Forecast, forecastMoney, forecastSpan } from '../../maths/forecast.ts';
import { seriesFrom } from '../../maths/lines.ts';
import type { PriceList } from '../../maths/money.ts';
import { type Money, moneyOver, roughMoneyText } from '../../maths/money.ts';
import { roundedFigure } from '../../maths/numbers.ts';
import type { CostReading } from '../../maths/report.ts';
import { type CostRow, type DayValue, microOf } from '../../maths/rows.ts';
import { SETTLED_HISTORY_DAYS } from '../../maths/statistics.ts';
import type { ForecastUnit } from '../question/forecast-question.ts';

export interface ForecastDays {
  readonly span: Span;
  readonly today: Day;
}

/** The forecast of these rows; `all` shows which days have a report. */
export function forecastOfRows(
  rows: readonly CostRow[],
  { rows: all, lockAge }: CostReading,
  { span, today }: ForecastDays,
) {
  const days = withHistory(span, today);
  const states = statesWithin(dayStates(all, days), rows);
  const series = seriesFrom(states);
  return { states, series, forecast: forecastSpan(series, span, today, lockAge) };
}

/** The days whose rows a forecast needs: ten weeks of history, and the span up to today. */
export function withHistory({ first }: Span, today: Day): Span {
  const history = addDays(today, -SETTLED_HISTORY_DAYS);
  return { first: history < first ? history : first, last: today };
}

const MONTHS: Readonly<Record<ForecastUnit, number>> = { month: 1, quarter: 3, year: 12 };

export function forecastSpanOf(unit: ForecastUnit, today: Day): Span {
  const first = startOf(unit, today);
  return { first, last: addDays(addMonths(first, MONTHS[unit]), -1) };
}

export type KnownForecast = Forecast & { ok: true };

interface PricedForecast extends ForecastDays {
  readonly series: readonly DayValue[];
  readonly prices: PriceList | null;
}

/** The money of a forecast; null where a day has no price. */
export interface ForecastMoney {
  readonly total: Money | null;
  readonly range: readonly (Money | null)[];
  /** Of an average day, at the current price. */
  readonly perDay: Money | null;
}

export function moneyOfForecast(
  { total, low, high, basis }: KnownForecast,
  { series, span, prices, today }: PricedForecast,
): ForecastMoney {
  const of = (credits: number) => forecastMoney(credits, series, span, prices);
  return {
    total: of(total),
    range: [of(low), of(high)],
    perDay: moneyOver(microOf(basis.level), [today], prices),
  };
}

/** `heading for 8,074 credits (7,800–8,350)`, and in money with a price. */
export function headingText({ total, low, high }: KnownForecast, money: ForecastMoney): string {
  const text = `heading for ${roundedCredits(total)} credits (${roundedCredits(low)}–${roundedCredits(high)})`;
  const ends = money.range.flatMap((end) => (end ? [roughMoneyText(end)] : []));
  return money.total ? `${text} · ${roughMoneyText(money.total)} (${ends.join('–')})` : text;
}

export function roundedCredits(credits: number): string {
  return roundedFigure(credits, Math.abs(credits) < 10);
}
