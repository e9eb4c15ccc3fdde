import { formatSpan, type Span, startOf } from '../../base/calendar.ts';
import { addDays, type Day } from '../../base/time.ts';
import { roughMoneyText } from '../../maths/money.ts';
import { bracketed } from '../../maths/numbers.ts';
import { type CostGap, type CostReading, unreadMonths } from '../../maths/report.ts';
import type { CostRow } from '../../maths/rows.ts';
import type { CostContext } from '../question/cost-question.ts';
import {
  forecastOfRows,
  forecastSpanOf,
  headingText,
  moneyOfForecast,
  roundedCredits,
  withHistory,
} from './forecast-figures.ts';

/** Whether these are the days of the current month so far, with or without today. */
export function isMonthSoFar({ first, last }: Span, today: Day): boolean {
  return first === startOf('month', today) && last >= addDays(today, -1);
}

interface MonthForecast {
  /** `forecast 8,074`, or `forecast 8,074 (€2,826)` */
  readonly title: string;
  /** One sentence with the range. */
  readonly text: string;
  /** The months of which it uses an older copy. */
  readonly gaps: readonly CostGap[];
}

/** The forecast of the current month for `/cost mtd`; null if there is none. */
export async function monthForecast(
  context: Pick<CostContext, 'costs'>,
  select: (rows: readonly CostRow[]) => readonly CostRow[],
  today: Day,
): Promise<MonthForecast | null> {
  return monthForecastOf(await context.costs(monthForecastDays(today)), select, today);
}

/** The days whose rows the forecast of the current month needs. */
export function monthForecastDays(today: Day): Span {
  return withHistory(forecastSpanOf('month', today), today);
}

/** Null without any copy of a month: with a part of the history, it would be another forecast. */
export function monthForecastOf(
  read: CostReading,
  select: (rows: readonly CostRow[]) => readonly CostRow[],
  today: Day,
): MonthForecast | null {
  if (unreadMonths(read).length > 0) return null;
  const span = forecastSpanOf('month', today);
  const { forecast, series } = forecastOfRows(select(read.rows), read, { span, today });
  if (!forecast.ok) return null;
  const prices = read.prices ?? null;
  const money = moneyOfForecast(forecast, { series, span, today, prices });
  const heading = headingText(forecast, money);
  const month = formatSpan(span, today);
  const inMoney = bracketed(money.total && roughMoneyText(money.total));
  return {
    title: `forecast ${roundedCredits(forecast.total)}${inMoney}`,
    text: `${month} is ${heading}, about 80% sure, if usage does not change.`,
    gaps: read.gaps,
  };
}
