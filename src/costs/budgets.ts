import { monthOf, monthSpan, type Span, within } from '../base/calendar.ts';
import { addDays, type Day, daysBetween } from '../base/time.ts';
import type { CostSelector } from '../domain/policy.ts';
import type { Service } from '../domain/targets.ts';
import {
  type DayState,
  dayStates,
  isSettled,
  type LockAge,
  lastSettledDay,
  selectRows,
  statesWithin,
} from '../maths/days.ts';
import { daysOfMonth, type Forecast, forecastMoney, forecastSpan } from '../maths/forecast.ts';
import { seriesFrom } from '../maths/lines.ts';
import { type Money, moneyOver, moneySum, type PriceList } from '../maths/money.ts';
import { sum } from '../maths/numbers.ts';
import type { CostReading } from '../maths/report.ts';
import { type DayValue, microOf, moneyOfDay } from '../maths/rows.ts';
import {
  factorOn,
  historyOf,
  SETTLED_HISTORY_DAYS,
  type WeekdayProfile,
  weekdayProfile,
} from '../maths/statistics.ts';
import { costScope } from './scope.ts';

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
  const spent = sum(own.map(({ value }) => value));
  const lastSettled = lastSettledDay(all);
  const forecast = forecastSpan(series, period, today, read.lockAge);
  const known = { series, period, forecast, today };
  const facts = monthFacts(budget, known, lastSettled);
  return {
    budget,
    period,
    untagged,
    spent,
    preliminary: sum(own.map(({ final, value }) => (final ? 0 : value))),
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

interface BudgetPace {
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

/** The figures of a budget in money; null where a price is missing. */
interface BudgetMoney {
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
function budgetMoney(
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
