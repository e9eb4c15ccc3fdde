import { costScope } from '../cost-reports/scope.ts';
import { type BudgetPace, type Burn, burnOf, paceOf } from '../costs/budget/budget.ts';
import {
  type BudgetMemory,
  type BudgetThreshold,
  crossThreshold,
  type ForecastAlert,
  memoryFor,
  weighForecast,
} from '../costs/budget/budget-alerts.ts';
import { type Span, startOf } from '../costs/calendar/calendar.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { type Forecast, forecastMonth } from '../costs/forecast/forecast.ts';
import { weekdayProfile } from '../costs/forecast/weekday.ts';
import { seriesOf } from '../costs/ledger/daily.ts';
import { dayStates, lastFinalDay } from '../costs/ledger/ledger.ts';
import type { CostRow, DayValue } from '../costs/ledger/row.ts';
import type { Service } from '../directory/directory.ts';
import type { Selector } from '../policy/policy-types.ts';

/** A limit of the configuration, in credits a UTC month. */
export interface Budget {
  readonly name: string;
  readonly monthlyCredits: number;
  readonly on: Selector | null;
  readonly notify: string;
  /** In percent, the lowest first. */
  readonly thresholds: readonly number[];
}

/** Where a budget stands; everything in credits. */
export interface BudgetStanding {
  readonly budget: Budget;
  readonly spent: number;
  /** The part of it that can still change. */
  readonly preliminary: number;
  readonly share: number;
  readonly lastFinal: Day | null;
  /** Null until a day of this month is final. */
  readonly pace: BudgetPace | null;
  readonly forecast: Forecast;
  readonly burn: Burn | null;
}

const HISTORY_DAYS = 56;

/** How far back the rows must reach: eight weeks of history, and the whole month so far. */
export function budgetSpan(today: Day): Span {
  const month = startOf('month', today);
  const history = addDays(today, -HISTORY_DAYS - 7);
  return { first: history < month ? history : month, last: today };
}

/** Days that are not final count as what they show: they are spent, if not to the last digit. */
export function budgetStanding(
  budget: Budget,
  rows: readonly CostRow[],
  services: readonly Service[],
  today: Day,
): BudgetStanding {
  const span = budgetSpan(today);
  const series = seriesOf(rows, costScope(budget.on, services, rows).selector, span);
  const lastFinal = lastFinalDay(dayStates(rows, span));
  const month = series.filter(({ day }) => day >= startOf('month', today) && day <= today);
  const spent = sum(month);
  const forecast = forecastMonth(series, today);
  const profile = weekdayProfile(series);
  const { monthlyCredits: amount } = budget;
  const isOfMonth = lastFinal !== null && lastFinal >= startOf('month', today);
  const total = forecast.ok ? forecast.total : null;
  return {
    budget,
    spent,
    preliminary: sum(month.filter(({ final }) => !final)),
    share: spent / amount,
    lastFinal,
    pace: isOfMonth ? paceOf(amount, profile, series, lastFinal) : null,
    forecast,
    burn: isOfMonth ? burnOf({ amount, profile }, series, lastFinal, total) : null,
  };
}

function sum(days: readonly DayValue[]): number {
  return days.reduce((all, { value }) => all + value, 0);
}

export type BudgetNews =
  | { readonly kind: 'threshold'; readonly threshold: BudgetThreshold }
  | {
      readonly kind: ForecastAlert | 'cleared';
      readonly confidence: 'low' | 'usual';
    }
  | { readonly kind: 'burn'; readonly burn: Burn };

export interface Weighed {
  readonly memory: BudgetMemory;
  readonly news: readonly BudgetNews[];
}

/** What is new about a budget beside what was told of it, and what is to be remembered of that. */
export function weighBudget(
  { budget, spent, forecast, burn }: BudgetStanding,
  remembered: BudgetMemory | null,
  today: Day,
): Weighed {
  const fresh = memoryFor(remembered, today, budget.monthlyCredits);
  const { memory: counted, crossed } = crossThreshold(fresh, spent, budget.thresholds);
  const { memory, news: weighed, confidence } = weighForecast(counted, forecast, today);
  // What is to come stands before what has happened: there is still time to do something about it.
  const news: BudgetNews[] = [
    ...(weighed === null ? [] : [{ kind: weighed, confidence }]),
    ...(burn === null ? [] : [{ kind: 'burn', burn } as const]),
    ...(crossed === null ? [] : [{ kind: 'threshold', threshold: crossed } as const]),
  ];
  return { memory, news };
}

/** Under which a piece of news is told once a month; an amount that was edited starts anew. */
export function markOf(news: BudgetNews, { forecast, budget }: BudgetStanding): string {
  const of = `of ${budget.monthlyCredits}`;
  if (news.kind === 'threshold') return `${news.threshold} % ${of}`;
  if (news.kind === 'burn') return `${news.burn.kind} burn ${of}`;
  // The memory decides whether a forecast is told again: the size told makes it another notice.
  const size = forecast.ok ? Math.round(forecast.total) : 0;
  return `${news.kind} ${size} ${of}`;
}
