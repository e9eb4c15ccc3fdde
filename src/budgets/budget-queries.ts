import { footer, noDataAnswer } from '../cost-reports/summary.ts';
import type { Span } from '../costs/calendar/calendar.ts';
import { startOf } from '../costs/calendar/calendar.ts';
import { dayOf } from '../costs/calendar/day.ts';
import { spanLabel } from '../costs/calendar/span-label.ts';
import type { CostReading } from '../costs/ledger/costs-read.ts';
import { dayStates } from '../costs/ledger/ledger.ts';
import type { Service } from '../directory/directory.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
import { budgetFacts } from './budget-text.ts';
import { type Budget, budgetSpan, budgetStanding } from './budgets.ts';

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
    return { title: 'No budgets', parts: [{ kind: 'text', text }] };
  }
  const read = await context.costs(budgetSpan(today));
  if (read.rows.length === 0) return noDataAnswer('Budgets', read);
  const states = dayStates(read.rows, budgetSpan(today));
  const inputs = { rows: read.rows, states, services: context.services(), today };
  const parts = context.budgets.flatMap((budget): readonly AnswerPart[] => {
    const standing = budgetStanding(budget, inputs);
    return [
      { kind: 'text', text: budget.name },
      { kind: 'facts', facts: budgetFacts(standing) },
    ];
  });
  const month = spanLabel({ first: startOf('month', today), last: today }, today);
  return {
    title: `Budgets · ${month} (UTC)`,
    parts: [...parts, { kind: 'note', text: footer(read) }],
  };
}
