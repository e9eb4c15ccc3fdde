import { formatSpan, type Span, startOf } from '../base/calendar.ts';
import { dayOf } from '../base/time.ts';
import { footerPart, noDataAnswer } from '../cost-reports/summary.ts';
import type { Answer, AnswerPart } from '../domain/answer.ts';
import { textAnswer } from '../domain/answer.ts';
import type { Service } from '../domain/targets.ts';
import type { CostReading } from '../maths/report.ts';
import { budgetFacts, budgetSummary } from './budget-text.ts';
import { type Budget, type BudgetStanding, budgetSpan, budgetStandings } from './budgets.ts';

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
  const read = await context.costs(budgetSpan(today));
  if (read.rows.length === 0) return noDataAnswer('Budgets', read);
  const sources = { ...context, services: context.services(), today };
  const standings = budgetStandings(sources, read);
  const parts = standings.flatMap((standing): readonly AnswerPart[] => [
    { kind: 'text', text: headingOf(standing) },
    { kind: 'facts', facts: budgetFacts(standing) },
  ]);
  const month = formatSpan({ first: startOf('month', today), last: today }, today);
  return {
    title: `Budgets · ${month} (UTC)`,
    parts: [...parts, footerPart(read)],
  };
}

/** `⚠ production: heading for 5,812 of 5,500 (+6%)` */
function headingOf(standing: BudgetStanding): string {
  const { name, state, text } = budgetSummary(standing);
  return `${state === 'over' ? '⚠ ' : ''}${name}: ${text}`;
}
