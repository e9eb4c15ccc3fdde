import { z } from 'zod';
import {
  comparisonText,
  lineChanges,
  type PeriodComparison,
  preparePeriods,
} from '../cost-reports/compare-periods.ts';
import { chartPart } from '../cost-reports/cost-chart.ts';
import { costOffer, readCostQuestion, unclearAnswer } from '../cost-reports/cost-question.ts';
import { tablePart } from '../cost-reports/cost-table.ts';
import { footer, headline, noDataAnswer, notFinalText } from '../cost-reports/summary.ts';
import { lengthOf, type Span } from '../costs/calendar/calendar.ts';
import { type Day, dayOf } from '../costs/calendar/day.ts';
import { onCalendar } from '../costs/calendar/timeline.ts';
import type { CostReading } from '../costs/ledger/costs-read.ts';
import { isOfTime } from '../costs/ledger/grouping.ts';
import {
  type DayState,
  dayStates,
  finalRows,
  lastFinalDay,
  type RowSelector,
  selected,
  statesWithin,
} from '../costs/ledger/ledger.ts';
import { problemsOf } from '../costs/ledger/report-problem.ts';
import type { CostRow } from '../costs/ledger/row.ts';
import { type SummaryLine, sumBy } from '../costs/ledger/summary.ts';
import { finalPeriod } from '../costs/question/period.ts';
import type { CostQuestion } from '../costs/question/question.ts';
import { compared } from '../costs/question/versus.ts';
import { findByName } from '../directory/directory.ts';
import type { Answer, AnswerPart, CommandOffer } from '../intent/answers/answer.ts';
import { countWords } from '../intent/answers/texts.ts';
import { textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';
import type { CommandContext } from '../intent/ports/command-context.ts';

const Words = z.string().max(200, 'is too long: at most 200 characters');

export const cost = queryCommand({
  name: 'cost',
  summary: 'Show costs by period and service',
  examples: ['cost mtd by service', 'cost last-month by day', 'cost 7d vs prev analytics-prod'],
  args: z.strictObject({
    words: textField(Words, { label: 'Question', rest: true }),
  }),

  target: () => null,
  answer: async ({ words = '' }, context) => {
    const today = dayOf(context.now());
    const asked = readCostQuestion({ command: 'cost', words }, today, context.services);
    if (!asked.ok) return asked.answer;
    return answerQuestion(asked.question, today, context);
  },
});

async function answerQuestion(
  question: CostQuestion,
  today: Day,
  context: CommandContext,
): Promise<Answer> {
  const asked = question.versus ? compared(question.period, question.versus, today) : null;
  const first = asked && asked.first < question.period.first ? asked.first : question.period.first;
  const all = { first, last: question.period.last };
  if (lengthOf(all) > READ_AT_MOST_DAYS) return tooFarBack(question);
  const read = await context.costs(all);
  const selector = selectorFor(question, context);
  const rows = selected(read.rows, selector);
  const states = statesWithin(dayStates(read.rows, question.period), rows);
  const period = finalPeriod(question.period, lastFinalDay(states), today);
  if (!period) return noDataAnswer(question.period.label, read);
  const own = states.filter(({ day }) => day >= period.first && day <= period.last);
  // Rows of the days before it alone are no reason to call the period itself a zero.
  if (own.every(({ state }) => state === 'no-data')) return noDataAnswer(period.label, read);

  // Only now is it known which days are meant by “final”, and so which days lie before them.
  const before = question.versus ? compared(period, question.versus, today) : null;
  const held = before && preparePeriods(read.rows, selector, period, before);
  return costAnswer({ ...question, period }, { today, rows, states: own, held }, read);
}

const READ_AT_MOST_DAYS = 800;

function tooFarBack({ period, by, only }: CostQuestion): Answer {
  const text = `The period to compare with begins more than ${READ_AT_MOST_DAYS} days back. Use instead:`;
  const span = `${period.first}..${period.last}`;
  const line = ['cost', span, 'by', by, 'vs prev', namedIn(only)];
  return unclearAnswer(text, [costOffer(line.join(' ').trim())]);
}

/** Of one service: its own rows and those of its pipes, with the storage of its warehouse left out. */
function selectorFor({ only }: CostQuestion, context: CommandContext): RowSelector {
  const [service] = only === null ? [] : findByName(context.services, only);
  return service ? { services: [service.id] } : {};
}

interface Shown {
  readonly today: Day;
  /** Those of the days before it too. */
  readonly rows: readonly CostRow[];
  /** The days of the period. */
  readonly states: readonly DayState[];
  readonly held: PeriodComparison | null;
}

function costAnswer(question: CostQuestion, asked: Shown, read: CostReading): Answer {
  const { period, by, only, finalOnly } = question;
  const { today, rows, held } = asked;
  const states = finalOnly ? asked.states.filter(isNotOpen) : asked.states;
  const sentences = [
    held ? comparisonText(held, today) : null,
    finalOnly ? leftOutText(asked.states.length - states.length) : null,
    notFinalText(states, period, today),
    period.notes.includes('cut-to-today') ? CUT : null,
  ].filter((sentence) => sentence !== null);
  const name = only ? `${only} · ` : '';
  const changes = held ? lineChanges(rows, by, held) : null;
  const parts: (AnswerPart | null)[] = [
    sentences.length > 0 ? { kind: 'text', text: sentences.join('\n') } : null,
    chartPart(states, period, today, isOfTime(by) ? by : 'day'),
    tablePart(by, linesOf(question, rows, states), changes),
    { kind: 'offers', offers: offersFor(question) },
    { kind: 'note', text: footer(ofShown(read, period, held)) },
  ];
  return {
    title: `${name}${headline(period.label, states, period)}`,
    parts: parts.filter((part) => part !== null),
  };
}

const CUT = 'Ends today (UTC, incomplete); future days left out.';

function isNotOpen({ state }: DayState): boolean {
  return state !== 'preliminary';
}

function leftOutText(days: number): string | null {
  if (days === 0) return null;
  return `${countWords(days, 'day that is', 'days that are')} not final left out.`;
}

function linesOf(
  { by, period, top, finalOnly }: CostQuestion,
  rows: readonly CostRow[],
  states: readonly DayState[],
): readonly SummaryLine[] {
  const lines = sumBy(finalOnly ? finalRows(rows, states) : rows, by, period, top);
  return isOfTime(by) ? onCalendar(lines, states, by) : lines;
}

/** The faults of a whole month are no word about the days of it that are shown. */
function ofShown(read: CostReading, period: Span, held: PeriodComparison | null): CostReading {
  const spans = held ? [period, held.before] : [period];
  return { ...read, problems: problemsOf(read.problems, spans) };
}

function offersFor({ period, by, only }: CostQuestion): readonly CommandOffer[] {
  const span = `${period.first}..${period.last}`;
  const line = (words: string) => ['cost', words, namedIn(only)].join(' ').trim();
  const other = by === 'day' ? 'service' : 'day';
  return [
    { label: 'CSV', line: line(`csv ${span} by ${by}`) },
    { label: `By ${other}`, line: line(`${span} by ${other}`) },
    { label: 'Compare with previous', line: line(`${span} by ${by} vs prev`) },
    { label: 'Last month', line: line(`last-month by ${by}`) },
  ];
}

/** A service may be called like a month, and is then only behind “only” taken for one. */
function namedIn(only: CostQuestion['only']): string {
  return only === null ? '' : `only ${only}`;
}
