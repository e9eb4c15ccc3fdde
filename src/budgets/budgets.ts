import { monthOf, monthSpan, type Span, within } from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import { costScope } from '../cost-reports/scope.ts';
import { type BudgetPace, type Burn, burnOf, paceOf } from '../costs/budget/budget.ts';
import {
  type BudgetMemory,
  type BudgetThreshold,
  crossThreshold,
  evaluateForecast,
  type ForecastAlert,
  memoryFor,
} from '../costs/budget/budget-alerts.ts';
import type { CostSelector } from '../domain/policy.ts';
import type { Service } from '../domain/targets.ts';
import type { LockAge } from '../maths/days.ts';
import {
  type DayState,
  dayStates,
  lastSettledDay,
  selectRows,
  statesWithin,
} from '../maths/days.ts';
import { type Forecast, forecastSpan } from '../maths/forecast.ts';
import { seriesFrom } from '../maths/lines.ts';
import type { CostReading } from '../maths/report.ts';
import type { DayValue } from '../maths/rows.ts';
import { SETTLED_HISTORY_DAYS, weekdayProfile } from '../maths/statistics.ts';
import { type BudgetMoney, budgetMoney } from './budget-money.ts';

/** A limit from the configuration, in credits per UTC month. */
export interface Budget {
  readonly name: string;
  readonly credits: number;
  readonly on: CostSelector | null;
  readonly notify: string;
  /** In percent, lowest first. */
  readonly thresholds: readonly number[];
}

/** The state of a budget in the current month; amounts in credits. */
export interface BudgetStanding {
  readonly budget: Budget;
  readonly period: Span;
  /** The services with costs and unknown tags, which a budget with tags leaves out. */
  readonly untagged: number;
  readonly spent: number;
  /** The part of `spent` that is not final. */
  readonly preliminary: number;
  readonly share: number;
  readonly lastSettled: Day | null;
  /** Null until one day of this month is settled. */
  readonly pace: BudgetPace | null;
  readonly forecast: Forecast;
  readonly burn: Burn | null;
  readonly money: BudgetMoney | null;
  readonly lockAge: LockAge | null;
  /** The months of the report that could not be read: the figures are incomplete. */
  readonly unread: readonly string[];
}

/** The days whose rows a budget needs: ten weeks of history, which include its month up to today. */
export function budgetSpan(today: Day): Span {
  return { first: addDays(today, -SETTLED_HISTORY_DAYS), last: today };
}

export interface BudgetInputs {
  /** The report of at least the days of `budgetSpan`. */
  readonly read: CostReading;
  /** The states of these days, for the whole organization. */
  readonly states: readonly DayState[];
  readonly services: readonly Service[];
  readonly today: Day;
}

/** The state of a budget today. Days that are not final count with their current values. */
export function budgetStanding(budget: Budget, inputs: BudgetInputs): BudgetStanding {
  const { read, services, today } = inputs;
  const all = within(inputs.states, budgetSpan(today));
  const { selector, untagged } = costScope(budget.on, services, read.rows);
  const series = seriesFrom(statesWithin(all, selectRows(read.rows, selector)));
  const period = monthSpan(monthOf(today));
  const own = within(series, { first: period.first, last: today });
  const spent = sum(own);
  const lastSettled = lastSettledDay(all);
  const forecast = forecastSpan(series, period, today, read.lockAge);
  const known = { series, period, forecast, today };
  const facts = monthFacts(budget, known, lastSettled);
  return {
    budget,
    period,
    untagged,
    spent,
    preliminary: sum(own.filter(({ final }) => !final)),
    share: spent / budget.credits,
    lastSettled,
    forecast,
    ...facts,
    money: budgetMoney(budget.credits, { ...known, pace: facts.pace }, read.prices ?? null),
    lockAge: read.lockAge,
    unread: read.gaps.map(({ month }) => month),
  };
}

interface KnownDays {
  readonly series: readonly DayValue[];
  readonly period: Span;
  readonly forecast: Forecast;
}

function monthFacts(
  { credits: amount }: Budget,
  { series, period, forecast }: KnownDays,
  lastSettled: Day | null,
): Pick<BudgetStanding, 'pace' | 'burn'> {
  if (lastSettled === null || lastSettled < period.first) return { pace: null, burn: null };
  const profile = weekdayProfile(series);
  const total = forecast.ok ? forecast.total : null;
  return {
    pace: paceOf(amount, profile, series, lastSettled),
    burn: burnOf({ amount, profile }, series, lastSettled, total),
  };
}

function sum(days: readonly DayValue[]): number {
  return days.reduce((all, { value }) => all + value, 0);
}

interface BudgetSources extends Pick<BudgetInputs, 'services' | 'today'> {
  readonly budgets: readonly Budget[];
}

/** The state of each budget. `read`: the report of `budgetSpan(today)`. */
export function budgetStandings(
  { budgets, services, today }: BudgetSources,
  read: CostReading,
): readonly BudgetStanding[] {
  const states = dayStates(read.rows, budgetSpan(today));
  return budgets.map((budget) => budgetStanding(budget, { read, states, services, today }));
}

export type BudgetNews =
  | { readonly kind: 'threshold'; readonly threshold: BudgetThreshold }
  | {
      readonly kind: ForecastAlert | 'cleared';
      readonly confidence: 'low' | 'usual';
    }
  | { readonly kind: 'burn'; readonly burn: Burn };

interface BudgetEvaluation {
  readonly memory: BudgetMemory;
  readonly news: readonly BudgetNews[];
}

/** The news about a budget since its last notices, and the memory to store with them. */
export function evaluateBudget(
  { budget, spent, forecast, burn, unread }: BudgetStanding,
  remembered: BudgetMemory | null,
  today: Day,
): BudgetEvaluation {
  const fresh = memoryFor(remembered, monthOf(today), budget.credits);
  // With a part of the report, a budget would look less spent than it is.
  if (unread.length > 0) return { memory: fresh, news: [] };
  const { memory: withThreshold, crossed } = crossThreshold(fresh, spent, budget.thresholds);
  const { memory, news: alert, confidence } = evaluateForecast(withThreshold, forecast, today);
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
  const of = `of ${budget.credits}`;
  if (news.kind === 'threshold') return `${news.threshold} % ${of}`;
  if (news.kind === 'burn') return `${news.burn.kind} burn ${of}`;
  // The stored memory decides whether a forecast is repeated. Its size makes it a new notice.
  const size = forecast.ok ? Math.round(forecast.total) : 0;
  return `${news.kind} ${size} ${of}`;
}
