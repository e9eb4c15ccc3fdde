import { z } from 'zod';
import { lengthOf, type Span } from '../costs/calendar.ts';
import { type Day, dayOf } from '../costs/day.ts';
import { dayStates, finalRows, lastFinalDay, selected } from '../costs/ledger.ts';
import { settled } from '../costs/period.ts';
import type { Question } from '../costs/question.ts';
import type { CostsRead } from '../costs/read.ts';
import type { CostRow } from '../costs/row.ts';
import { sumBy } from '../costs/summary.ts';
import { compared } from '../costs/versus.ts';
import { askedOf, offerOf, unclear } from '../digest/question.ts';
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

const Words = z.string().max(200, 'is too long: at most 200 characters');

export const cost = queryCommand({
  name: 'cost',
  summary: 'Show what it costs, by period and service',
  examples: ['cost mtd by service', 'cost last-month by day', 'cost 7d vs prev analytics-prod'],
  args: z.strictObject({
    words: textField(Words, { label: 'What is asked', rest: true }),
  }),

  target: () => null,
  answer: async ({ words = '' }, reach) => {
    const today = dayOf(reach.now());
    const asked = askedOf({ command: 'cost', words }, today, reach.services);
    if (!asked.ok) return asked.answer;
    return answerQuestion(asked.question, today, reach);
  },
});

async function answerQuestion(question: Question, today: Day, reach: Reach): Promise<Answer> {
  const asked = question.versus ? compared(question.period, question.versus, today) : null;
  const first = asked && asked.first < question.period.first ? asked.first : question.period.first;
  const all = { first, last: question.period.last };
  if (lengthOf(all) > READ_AT_MOST_DAYS) return tooFarBack(question);
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

function tooFarBack({ period, by, only }: Question): Answer {
  const text = `What it is compared with lies more than ${READ_AT_MOST_DAYS} days back. Rather:`;
  const span = `${period.first}..${period.last}`;
  const line = ['cost', span, 'by', by, 'vs prev', namedIn(only)];
  return unclear(text, [offerOf(line.join(' ').trim())]);
}

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
  const line = (words: string) => ['cost', words, namedIn(only)].join(' ').trim();
  const other = by === 'day' ? 'service' : 'day';
  return [
    { label: 'CSV', line: line(`csv ${span} by ${by}`) },
    { label: `By ${other}`, line: line(`${span} by ${other}`) },
    { label: 'Against before', line: line(`${span} by ${by} vs prev`) },
    { label: 'Last month', line: line(`last-month by ${by}`) },
  ];
}

/** A service may be called like a month, and is then only behind “only” taken for one. */
function namedIn(only: Question['only']): string {
  return only === null ? '' : `only ${only}`;
}
