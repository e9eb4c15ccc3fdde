import { z } from 'zod';
import { lengthOf, type Span } from '../costs/calendar.ts';
import { type Day, dayOf } from '../costs/day.ts';
import { dayStates, finalRows, lastFinalDay, selected } from '../costs/ledger.ts';
import { settled } from '../costs/period.ts';
import type { Question, QuestionProblem } from '../costs/question.ts';
import type { CostsRead } from '../costs/read.ts';
import type { CostRow } from '../costs/row.ts';
import { sumBy } from '../costs/summary.ts';
import { compared } from '../costs/versus.ts';
import { readQuestion } from '../costs/words.ts';
import {
  changesBy,
  chartPart,
  comparedText,
  footer,
  headline,
  nothingRead,
  openText,
  tablePart,
} from '../digest/summary.ts';
import { findNamed } from '../directory/directory.ts';
import type { Answer, Offer, Part } from '../intent/answer.ts';
import { textField } from '../intent/arguments.ts';
import { queryCommand, type Reach } from '../intent/define.ts';

const Words = z.string().max(200, 'is too long');

export const cost = queryCommand({
  name: 'cost',
  summary: 'Show what it costs, by period and service',
  examples: ['cost mtd by service', 'cost last-month by day', 'cost 7d vs prev analytics-prod'],
  args: z.strictObject({
    words: textField(Words, { label: 'Period, by …, vs …, service', rest: true }),
  }),

  target: () => null,
  answer: async ({ words = '' }, reach) => {
    const today = dayOf(reach.now());
    const isName = (text: string) => findNamed(reach.services, text).length === 1;
    const said = words.split(/\s+/).filter((word) => word !== '');
    const reading = readQuestion(said, today, isName);
    if (!reading.ok) return misread(reading, said);
    return answerQuestion(reading.question, today, reach);
  },
});

const PROBLEMS: Readonly<Record<QuestionProblem, string>> = {
  'unknown-words': 'is not a period, a grouping or a service that I know',
  'no-such-day': 'has a day that does not exist',
  reversed: 'ends before it begins',
  'in-the-future': 'lies in the future',
  'no-days': 'has no days',
  'too-long': 'has more than 400 days',
  'no-grouping': 'needs a grouping behind it, such as “by service”',
  'no-comparison': 'needs a period behind it, such as “vs prev”',
  'no-number': 'needs a number behind it, such as “top 5”',
  'no-name': 'needs a service behind it',
  'said-twice': 'is said twice',
};

type Unread = Extract<ReturnType<typeof readQuestion>, { ok: false }>;

function misread({ problem, text, nearest }: Unread, said: readonly string[]): Answer {
  const offers: Offer[] = nearest.map((near) => ({
    label: `cost ${near}`,
    line: ['cost', ...said.join(' ').replace(text, near).split(' ')].join(' '),
  }));
  const hint = offers.length > 0 ? 'Did you mean:' : 'For example: cost mtd by service';
  return {
    title: 'That is not clear',
    parts: [
      { kind: 'text', text: `“${text}” ${PROBLEMS[problem]}. ${hint}` },
      { kind: 'offers', offers },
    ],
  };
}

async function answerQuestion(question: Question, today: Day, reach: Reach): Promise<Answer> {
  const asked = question.versus ? compared(question.period, question.versus, today) : null;
  const first = asked && asked.first < question.period.first ? asked.first : question.period.first;
  const all = { first, last: question.period.last };
  if (lengthOf(all) > READ_AT_MOST_DAYS) return TOO_FAR_BACK;
  const read = await reach.costs(all);
  const rows = rowsFor(question, read, reach);
  const states = dayStates(rows, question.period);
  const period = settled(question.period, lastFinalDay(states), today);
  if (!period) return nothingRead(question.period.label, read);
  if (rows.length === 0) return nothingRead(period.label, read);

  // Only now is it known which days are meant by “final”, and so which days lie before them.
  const before = question.versus ? compared(period, question.versus, today) : null;
  const shown = question.finalOnly ? finalRows(rows, states) : rows;
  return costAnswer({ ...question, period }, { today, shown, before }, read);
}

const READ_AT_MOST_DAYS = 800;

const TOO_FAR_BACK: Answer = {
  title: 'That is not clear',
  parts: [{ kind: 'text', text: 'What it is compared with lies more than 800 days back.' }],
};

/** Of one service: its own rows and those of its pipes, with the storage of its warehouse left out. */
function rowsFor({ only }: Question, { rows }: CostsRead, reach: Reach): readonly CostRow[] {
  const [service] = only === null ? [] : findNamed(reach.services, only);
  return service ? selected(rows, { services: [service.id] }) : rows;
}

interface Shown {
  readonly today: Day;
  readonly shown: readonly CostRow[];
  readonly before: Span | null;
}

function costAnswer(question: Question, { today, shown, before }: Shown, read: CostsRead): Answer {
  const { period, by, top, only } = question;
  const states = dayStates(shown, period);
  const sentences = [
    before ? comparedText(shown, period, before, today) : null,
    openText(states, period),
  ].filter((sentence) => sentence !== null);
  const chart = chartPart(shown, period);
  const lines = sumBy(shown, by, period, top);
  const changes = before ? changesBy(shown, by, period, before) : null;
  const name = only ? `${only} · ` : '';
  const parts: (Part | null)[] = [
    sentences.length > 0 ? { kind: 'text', text: sentences.join(' ') } : null,
    chart,
    tablePart(heading(by), lines, changes),
    { kind: 'offers', offers: offersFor(question) },
    { kind: 'note', text: footer(read) },
  ];
  return {
    title: `${name}${headline(period.label, states, period)}`,
    parts: parts.filter((part) => part !== null),
  };
}

function heading(by: Question['by']): string {
  return `${by.charAt(0).toUpperCase()}${by.slice(1)}`;
}

function offersFor({ period, by, only }: Question): readonly Offer[] {
  const span = `${period.first}..${period.last}`;
  const line = (words: string) => ['cost', words, only ?? ''].join(' ').trim();
  const other = by === 'day' ? 'service' : 'day';
  return [
    { label: 'CSV', line: `cost csv ${span} by ${by}${only ? ` ${only}` : ''}` },
    { label: `By ${other}`, line: line(`${span} by ${other}`) },
    { label: 'Against before', line: line(`${span} by ${by} vs prev`) },
    { label: 'Last month', line: line(`last-month by ${by}`) },
  ];
}
