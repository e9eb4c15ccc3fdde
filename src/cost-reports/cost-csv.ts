import { within } from '../base/calendar.ts';
import { dayOf } from '../base/time.ts';
import type { Answer, Caller } from '../domain/answer.ts';
import { countWords } from '../domain/answer.ts';
import { dayStates, finalRows, lastFinalDay, statesWithin } from '../maths/days.ts';
import { exactMoney, exactPrice, moneyOf } from '../maths/money.ts';
import { finalPeriod } from '../maths/period.ts';
import type { QuestionScope } from '../maths/question.ts';
import { problemsOf } from '../maths/report.ts';
import { type CostRow, creditsOf, METRICS } from '../maths/rows.ts';
import {
  type CostContext,
  questionWords,
  readCostQuestion,
  readQuestionCosts,
} from './question/cost-question.ts';
import { scopedRows } from './question/scoped-rows.ts';
import { scopeNotes } from './scope.ts';
import { footerPart, noDataAnswer } from './summary.ts';
import { csvText } from './tables/csv-text.ts';

const EVERY_ROW = 'The file contains every row of the period: “vs” and “top” do not apply to it.';

/** The answer of `/cost csv` to the typed words: a file with one row per day and entity. */
export async function answerCsv(
  words: string,
  context: CostContext,
  asker: Pick<Caller, 'by'>,
): Promise<Answer> {
  const today = dayOf(context.now());
  const typed = { command: 'cost csv', words } as const;
  const asked = readCostQuestion(typed, today, context.services);
  if (!asked.ok) return asked.answer;
  const { question } = asked;
  const { period: requested, finalOnly, versus, top } = question;
  const costs = await readQuestionCosts(question, requested, { context, asker, typed });
  if (!costs.ok) return costs.answer;
  const { read } = costs;
  const lineFor = (scope: QuestionScope) => `cost csv ${questionWords({ ...question, scope })}`;
  const scoped = scopedRows({ question, lineFor }, read.rows, context.services);
  if (!scoped.ok) return scoped.answer;
  const states = statesWithin(dayStates(read.rows, requested), scoped.rows);
  const period = finalPeriod(requested, lastFinalDay(states), today);
  if (!period) return noDataAnswer(requested.label, read);
  const rows = within(finalOnly ? finalRows(scoped.rows, states) : scoped.rows, period);
  const { scope } = scoped;
  const count = countWords(rows.length, 'row');
  const text = `${count}, one per day and entity, in credits${inMoney(rows)}.`;
  return {
    title: `Costs of ${scope.label ? `${scope.label} · ` : ''}${period.label} (UTC)`,
    parts: [
      { kind: 'text', text },
      ...(versus || top ? [{ kind: 'text', text: EVERY_ROW } as const] : []),
      footerPart(
        { ...read, problems: problemsOf(read.problems, [period]) },
        null,
        scopeNotes(scope),
      ),
      { kind: 'file', name: `costs-${period.first}-${period.last}.csv`, text: csvOf(rows) },
    ],
  };
}

const COLUMNS = ['day', 'kind', 'id', 'name', 'service', 'warehouse', 'final', 'total', ...METRICS];

/** Columns with the money of the total. A row of a day without a price has none. */
const MONEY_COLUMNS = ['currency', 'perCredit', 'money'];

/** Columns of a question by tag or team. */
const LABEL_COLUMNS = ['tags', 'team'];

function isPriced(rows: readonly CostRow[]): boolean {
  return rows.some(({ price }) => price !== undefined);
}

function inMoney(rows: readonly CostRow[]): string {
  return isPriced(rows) ? ' and in money that is not rounded' : '';
}

function csvOf(rows: readonly CostRow[]): string {
  const sorted = rows.toSorted((a, b) => order(a).localeCompare(order(b)));
  const priced = isPriced(rows);
  const labelled = rows.some(({ labels }) => labels !== undefined);
  const header = [...COLUMNS, ...(priced ? MONEY_COLUMNS : []), ...(labelled ? LABEL_COLUMNS : [])];
  const lines = sorted.map((row) => [
    ...cells(row),
    ...(priced ? moneyCells(row) : []),
    ...(labelled ? [row.labels?.tag ?? '', row.labels?.team ?? ''] : []),
  ]);
  return csvText(header, lines);
}

function moneyCells({ price, total }: CostRow): readonly string[] {
  const money = moneyOf([[price, total]]);
  return price && money ? [price.currency, exactPrice(price), exactMoney(money)] : ['', '', ''];
}

function order({ day, entityName, entityId }: CostRow): string {
  return `${day} ${entityName} ${entityId}`;
}

function cells(row: CostRow): readonly (string | number)[] {
  const metrics = METRICS.map((metric) => {
    const micro = row.metrics[metric];
    return micro === undefined ? '' : creditsOf(micro);
  });
  const { day, kind, entityId, entityName, serviceId, warehouseId, locked, total } = row;
  const own = [day, kind, entityId, entityName, serviceId ?? '', warehouseId ?? ''];
  return [...own, locked ? 'yes' : 'no', creditsOf(total), ...metrics];
}
