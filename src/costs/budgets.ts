import { monthOf, monthSpan, type Span, within } from '../base/calendar.ts';
import { type Day, daysBetween } from '../base/time.ts';
import type { CostSelector } from '../domain/policy.ts';
import type { Service } from '../domain/targets.ts';
import { dayStates, selectRows, statesWithin } from '../maths/days.ts';
import { type Forecast, forecastMoney, forecastSpan } from '../maths/forecast.ts';
import { seriesFrom } from '../maths/lines.ts';
import { type Money, moneyOver, moneySum, type PriceList } from '../maths/money.ts';
import { sum } from '../maths/numbers.ts';
import { type CostReading, lostRows, unreadMonths } from '../maths/report.ts';
import { type DayValue, microOf, moneyOfDay } from '../maths/rows.ts';
import { costScope } from './scope.ts';
import { isExplainedByChanges, modelSpan } from './unusual.ts';

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
  readonly forecast: Forecast;
  readonly money: BudgetMoney | null;
  /** What the figures lack: months or rows that could not be read; null for nothing. */
  readonly missing: string | null;
}

export interface BudgetInputs {
  /** The report of at least the days of `modelSpan`. */
  readonly read: CostReading;
  readonly services: readonly Service[];
  readonly today: Day;
}

/** The state of a budget today. Days that are not final count with their current values. */
export function budgetStanding(budget: Budget, inputs: BudgetInputs): BudgetStanding {
  const { read, services, today } = inputs;
  const { selector, untagged } = costScope(budget.on, services, read.rows);
  const rows = selectRows(read.rows, selector);
  const series = seriesFrom(statesWithin(dayStates(read.rows, modelSpan(today)), rows));
  const isExplained = isExplainedByChanges({ ...read, rows }, series, today);
  const period = monthSpan(monthOf(today));
  const own = within(series, { first: period.first, last: today });
  const spent = sum(own.map(({ value }) => value));
  const forecast = forecastSpan(series, period, today, isExplained);
  return {
    budget,
    period,
    untagged,
    spent,
    preliminary: sum(own.map(({ final, value }) => (final ? 0 : value))),
    share: spent / budget.credits,
    forecast,
    money: budgetMoney(budget.credits, { series, period, forecast, today }, read.prices ?? null),
    missing: missingText(read, { first: period.first, last: today }),
  };
}

/** `3 rows` or `2026-10`: what could not be read, so that no total of the days is known. */
export function missingText(read: CostReading, span: Span): string | null {
  const months = unreadMonths(read).filter(
    (month) => month >= monthOf(span.first) && month <= monthOf(span.last),
  );
  if (months.length > 0) return months.join(', ');
  const rows = lostRows(read.problems, span);
  return rows === 0 ? null : `${rows} ${rows === 1 ? 'row' : 'rows'} of the report`;
}

/** The state of each budget. `read`: the report of `modelSpan(today)`. */
export function budgetStandings(
  { budgets, ...inputs }: Omit<BudgetInputs, 'read'> & { readonly budgets: readonly Budget[] },
  read: CostReading,
): readonly BudgetStanding[] {
  return budgets.map((budget) => budgetStanding(budget, { ...inputs, read }));
}

/** The figures of a budget in money; null where a price is missing. */
interface BudgetMoney {
  readonly amount: Money | null;
  readonly spent: Money | null;
  readonly forecast: Money | null;
}

interface BudgetDays {
  readonly series: readonly DayValue[];
  readonly period: Span;
  readonly forecast: Forecast;
  readonly today: Day;
}

/** The amount is spread evenly over its days. Source: docs/costs.md#money. */
function budgetMoney(
  credits: number,
  { series, period, forecast, today }: BudgetDays,
  prices: PriceList | null,
): BudgetMoney | null {
  if (prices === null) return null;
  const own = within(series, { first: period.first, last: today });
  return {
    amount: moneyOver(microOf(credits), daysBetween(period.first, period.last), prices),
    spent: moneySum(own.map(moneyOfDay)),
    forecast: forecast.ok ? forecastMoney(forecast.total, series, period, prices) : null,
  };
}
