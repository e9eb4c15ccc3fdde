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
import { seriesFrom } from '../costs/ledger/daily.ts';
import {
  type DayState,
  lastFinalDay,
  selected,
  statesIn,
  statesWithin,
} from '../costs/ledger/ledger.ts';
import type { CostRow, DayValue } from '../costs/ledger/row.ts';
import type { Service } from '../directory/directory.ts';
import type { Selector } from '../policy/policy-types.ts';

/** A limit from the configuration, in credits per UTC month. */
export interface Budget {
  readonly name: string;
  readonly monthlyCredits: number;
  readonly on: Selector | null;
  readonly notify: string;
  /** In percent, lowest first. */
  readonly thresholds: readonly number[];
}

/** The state of a budget in the current month; amounts in credits. */
export interface BudgetStanding {
  readonly budget: Budget;
  readonly spent: number;
  /** The part of `spent` that is not final. */
  readonly preliminary: number;
  readonly share: number;
  readonly lastFinal: Day | null;
  /** Null until one day of this month is final. */
  readonly pace: BudgetPace | null;
  readonly forecast: Forecast;
  readonly burn: Burn | null;
}

const HISTORY_DAYS = 56;

/** The days whose rows a budget needs: nine weeks of history, and all of the current month. */
export function budgetSpan(today: Day): Span {
  const month = startOf('month', today);
  const history = addDays(today, -HISTORY_DAYS - 7);
  return { first: history < month ? history : month, last: today };
}

export interface BudgetInputs {
  readonly rows: readonly CostRow[];
  /** The states of at least the days of `budgetSpan(today)`, for the whole organization. */
  readonly states: readonly DayState[];
  readonly services: readonly Service[];
  readonly today: Day;
}

/** The state of a budget today. Days that are not final count with their current values. */
export function budgetStanding(
  budget: Budget,
  { rows, states, services, today }: BudgetInputs,
): BudgetStanding {
  const all = statesIn(states, budgetSpan(today));
  const { selector } = costScope(budget.on, services, rows);
  const series = seriesFrom(statesWithin(all, selected(rows, selector)));
  const lastFinal = lastFinalDay(all);
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

export interface BudgetEvaluation {
  readonly memory: BudgetMemory;
  readonly news: readonly BudgetNews[];
}

/** The news about a budget since its last notices, and the memory to store with them. */
export function evaluateBudget(
  { budget, spent, forecast, burn }: BudgetStanding,
  remembered: BudgetMemory | null,
  today: Day,
): BudgetEvaluation {
  const fresh = memoryFor(remembered, today, budget.monthlyCredits);
  const { memory: withThreshold, crossed } = crossThreshold(fresh, spent, budget.thresholds);
  const { memory, news: alert, confidence } = weighForecast(withThreshold, forecast, today);
  // Forecasts come first, because readers can still act on them.
  const news: BudgetNews[] = [
    ...(alert === null ? [] : [{ kind: alert, confidence }]),
    ...(burn === null ? [] : [{ kind: 'burn', burn } as const]),
    ...(crossed === null ? [] : [{ kind: 'threshold', threshold: crossed } as const]),
  ];
  return { memory, news };
}

/** The stored key of a notice, sent once per month. A new amount makes it a new notice. */
export function noticeMark(news: BudgetNews, { forecast, budget }: BudgetStanding): string {
  const of = `of ${budget.monthlyCredits}`;
  if (news.kind === 'threshold') return `${news.threshold} % ${of}`;
  if (news.kind === 'burn') return `${news.burn.kind} burn ${of}`;
  // The stored memory decides whether a forecast is repeated. Its size makes it a new notice.
  const size = forecast.ok ? Math.round(forecast.total) : 0;
  return `${news.kind} ${size} ${of}`;
}
