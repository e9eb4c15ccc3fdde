import { lengthOf, type Span, spanOfBoth } from '../../base/calendar.ts';
import { dayOf } from '../../base/time.ts';
import type { Answer, Caller } from '../../domain/answer.ts';
import { explainChange, settledPairs } from '../../maths/compare.ts';
import { comparisonPeriod } from '../../maths/period.ts';
import type { QuestionScope } from '../../maths/question.ts';
import { READ_AT_MOST_DAYS, tooFarBack } from '../cost-answer.ts';
import {
  type CostContext,
  readCostQuestion,
  readQuestionCosts,
} from '../question/cost-question.ts';
import { scopedRows } from '../question/scoped-rows.ts';
import { noDataAnswer } from '../summary.ts';
import { type AcceptedChange, explainedAnswer, incomparableAnswer } from './why-answer.ts';
import { whyWords, wordsRefusal } from './why-words.ts';

interface WhyContext extends CostContext {
  /** The accepted changes of some services, which may explain a change of their costs. */
  readonly costChanges: (filter: AcceptedChangeFilter) => Promise<readonly AcceptedChange[]>;
}

/**
 * The answer of `/cost why`: what changed most between two periods by service and metric, and the
 * changes that ran on these services. Source: docs/costs.md#reasons.
 */
export async function answerWhy(
  words: string,
  context: WhyContext,
  asker: Pick<Caller, 'by'>,
): Promise<Answer> {
  const today = dayOf(context.now());
  const typed = { command: 'cost why', words } as const;
  const asked = readCostQuestion(typed, today, context.services);
  if (!asked.ok) return asked.answer;
  const { question } = asked;
  const refusal = wordsRefusal(question);
  if (refusal) return refusal;
  const { period: now, versus, top } = question;
  const before = comparisonPeriod(now, versus ?? 'prev', today);
  const span = spanOfBoth(now, before);
  if (lengthOf(span) > READ_AT_MOST_DAYS)
    return tooFarBack(`cost why ${whyWords({ ...question, versus: null })}`);
  const costs = await readQuestionCosts(question, span, { context, asker, typed });
  if (!costs.ok) return costs.answer;
  const { read } = costs;
  if (read.rows.length === 0) return noDataAnswer(now.label, read);
  const lineFor = (scope: QuestionScope) => `cost why ${whyWords({ ...question, scope })}`;
  const scoped = scopedRows({ question, lineFor }, read.rows, context.services);
  if (!scoped.ok) return scoped.answer;
  const shown = { today, question, before, read, scope: scoped.scope };
  const pairing = settledPairs(read.rows, now, before);
  if (!pairing.ok) return incomparableAnswer(shown, pairing.why);
  const explained = explainChange(scoped.rows, pairing.pairs, top);
  const changes = await context.costChanges({ services: explained.services, span });
  return explainedAnswer(shown, { ...explained, ...pairing, changes });
}

export interface AcceptedChangeFilter {
  readonly services: readonly { readonly id: string; readonly name: string }[];
  /** UTC days. */
  readonly span: Span;
}
