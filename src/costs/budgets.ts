import { monthOf, monthSpan, type Span, within } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import type { CostSelector } from '../domain/policy.ts';
import type { Service } from '../domain/targets.ts';
import { selectRows } from '../maths/days.ts';
import { moneyOf } from '../maths/money.ts';
import { sum } from '../maths/numbers.ts';
import { type CostReading, lostRows, unreadMonths } from '../maths/report.ts';
import { microOf } from '../maths/rows.ts';
import { leftOut, selectedCosts } from './organizations.ts';
import { costScope } from './scope.ts';
import { forecastOf } from './unusual.ts';

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
export type BudgetStanding = ReturnType<typeof budgetStanding>;

export interface BudgetInputs {
  /** The report of at least the days of `modelSpan`. */
  readonly read: CostReading;
  readonly services: readonly Service[];
  readonly today: Day;
}

/** The state of a budget today. Days that are not final count with their current values. */
export function budgetStanding(budget: Budget, inputs: BudgetInputs) {
  const { services, today } = inputs;
  const read = selectedCosts(inputs.read, budget.on);
  const { selector } = costScope(budget.on, services, read.rows);
  const rows = selectRows(read.rows, selector);
  const period = monthSpan(monthOf(today));
  const { series, forecast, money } = forecastOf(read, rows, period, today);
  const own = within(series, { first: period.first, last: today });
  const spent = sum(own.map(({ value }) => value));
  return {
    budget,
    period,
    spent,
    share: spent / budget.credits,
    forecast,
    // Null without prices.
    money: {
      spent: moneyOf(own.map(({ price, value }) => [price, microOf(value)])),
      forecast: money,
    },
    // What the figures lack: months or rows that could not be read.
    missing: missingText(read, { first: period.first, last: today }) ?? leftOut(read),
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
