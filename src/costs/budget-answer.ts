import { formatMonthName, formatSpan, type Span, startOf } from '../base/calendar.ts';
import { dayOf } from '../base/time.ts';
import { type Answer, type AnswerPart, textAnswer } from '../domain/answer.ts';
import type { Service } from '../domain/targets.ts';
import { roughMoneyText } from '../maths/money.ts';
import { bracketed, changeText, shareText } from '../maths/numbers.ts';
import type { CostReading } from '../maths/report.ts';
import { type Budget, type BudgetStanding, budgetStandings } from './budgets.ts';
import {
  footerPart,
  forecastText,
  noDataAnswer,
  noForecastText,
  pointText,
  roundedCredits,
} from './standing.ts';
import { modelSpan } from './unusual.ts';

interface BudgetContext {
  readonly budgets: readonly Budget[];
  readonly costs: (span: Span) => Promise<CostReading>;
  readonly services: () => readonly Service[];
  readonly now: () => Date;
}

/** The answer of `/cost budget`: where each budget stands in the current UTC month. */
export async function listBudgets(context: BudgetContext): Promise<Answer> {
  const today = dayOf(context.now());
  if (context.budgets.length === 0) {
    const text = 'signalbox.yaml defines no budgets. An operator of Signalbox can add one.';
    return textAnswer('No budgets', text);
  }
  const read = await context.costs(modelSpan(today));
  if (read.rows.length === 0) return noDataAnswer('Budgets', read);
  const sources = { ...context, services: context.services(), today };
  const standings = budgetStandings(sources, read);
  const parts = standings.flatMap((standing): readonly AnswerPart[] => [
    { kind: 'text', text: headingOf(standing) },
    { kind: 'facts', facts: budgetFacts(standing) },
  ]);
  const month = formatSpan({ first: startOf('month', today), last: today }, today);
  return {
    title: `Budgets · ${month} (UTC): ${countText(standings)}`,
    parts: [...parts, footerPart(read)],
  };
}

/** `1 of 2 over or heading over` */
function countText(standings: readonly BudgetStanding[]): string {
  const all = standings.length;
  const over = standings.filter(isOver).length;
  const unknown = standings.filter(({ missing }) => missing !== null).length;
  if (unknown === all) return 'not known';
  const rest = unknown > 0 ? `${unknown} of ${all} not known` : 'all within';
  return over === 0 ? rest : `${over} of ${all} over or heading over`;
}

function isOver({ forecast, budget, share, missing }: BudgetStanding): boolean {
  return missing === null && (share > 1 || (forecast.ok && forecast.total > budget.credits));
}

/** `⚠ production: heading over`; the facts below have the figures. */
function headingOf(standing: BudgetStanding): string {
  const { budget, share, missing } = standing;
  if (missing !== null) return `${budget.name}: not known`;
  if (!isOver(standing)) return `${budget.name}: within`;
  return `⚠ ${budget.name}: ${share > 1 ? 'over' : 'heading over'}`;
}

/**
 * `November over: 5,612 of 5,500 spent`, `November heading for 5,812 of 5,500 (+6%)`, or with a wide range
 * `November heading for 3,858–9,854 of 5,500`. A fact comes before any forecast.
 */
export function headingText(standing: BudgetStanding): string {
  const { budget, period, forecast, spent, money, missing } = standing;
  const month = formatMonthName(period.first);
  const of = `of ${roundedCredits(budget.credits)}`;
  if (missing !== null) return `not known: ${missing} could not be read`;
  if (spent > budget.credits) {
    const over = overText(spent / budget.credits - 1);
    const note = bracketed(over, money.spent && roughMoneyText(money.spent));
    return `${month} over: ${roundedCredits(spent)} ${of} spent${note}`;
  }
  if (!forecast.ok) return `${month} ${roundedCredits(spent)} ${of} spent`;
  const { total, isWide } = forecast;
  const change = overText(total / budget.credits - 1);
  const note = bracketed(change, money.forecast && roughMoneyText(money.forecast));
  return `${month} heading for ${pointText(forecast)} ${of}${isWide ? '' : note}`;
}

/** A budget that is exceeded by less than half a percent is not shown as met. */
function overText(fraction: number): string {
  return fraction > 0 && fraction < 0.005 ? '+<1%' : changeText(fraction);
}

/** The state of a budget. */
export function budgetFacts(standing: BudgetStanding): readonly (readonly [string, string])[] {
  const { share, money, budget, spent, missing, forecast } = standing;
  if (missing !== null) return [['Not known', `${missing} could not be read`]];
  const of = `${roundedCredits(spent)} of ${roundedCredits(budget.credits)}`;
  const inMoney = bracketed(money.spent && roughMoneyText(money.spent));
  return [
    ['Spent', `${shareText(share)} · ${of}${inMoney}`],
    ['Forecast', forecast.ok ? forecastText(forecast, null) : noForecastText(forecast)],
  ];
}
