import type { Span } from '../../base/calendar.ts';
import { nearest } from '../../base/text.ts';
import type { Day } from '../../base/time.ts';
import type { Answer, Caller, CommandOffer } from '../../domain/answer.ts';
import { textAnswer } from '../../domain/answer.ts';
import type { UserId } from '../../domain/change.ts';
import { findByName, nameToType, type Service } from '../../domain/targets.ts';
import { versusWord } from '../../maths/period.ts';
import {
  type CostQuestion,
  correctLine,
  type Names,
  readQuestion,
  type UnclearQuestion,
  wordsOfScope,
} from '../../maths/question.ts';
import type { CostReading } from '../../maths/report.ts';
import { unclearQuestionText } from './question-text.ts';

/** The other commands of `/cost`, suggested when the first word is not understood. */
export const COST_SUBCOMMANDS = [
  'anomalies',
  'budget',
  'csv',
  'digest',
  'forecast',
  'why',
] as const;

/** What the answers of `/cost` read. */
export interface CostContext {
  /** Costs of UTC days, both ends included; at most 15 min old. */
  readonly costs: (span: Span) => Promise<CostReading>;
  /** Reads the months that can still change again, a few times per user and 10 minutes. */
  readonly refreshCosts: (span: Span, by: UserId) => Promise<CostRefresh>;
  readonly services: readonly Service[];
  readonly now: () => Date;
}

export type CostRefresh =
  | { readonly ok: true; readonly read: CostReading }
  /** Too many refreshes; the time at which the next one is possible. */
  | { readonly ok: false; readonly again: Date };

type CostQuestionResult =
  | { readonly ok: true; readonly question: CostQuestion }
  | { readonly ok: false; readonly answer: Answer };

/** Suggestions if no similar question exists. */
const COMMON_QUESTIONS = ['mtd', '7d', 'last-month'];

interface Typed {
  /** The command before the words. */
  readonly command: 'cost' | 'cost csv' | 'cost forecast' | 'cost why';
  readonly words: string;
}

/** The question in the typed words, or an answer with suggestions. */
export function readCostQuestion(
  { command, words }: Typed,
  today: Day,
  services: readonly Service[],
): CostQuestionResult {
  const typed = words.split(/\s+/).filter((word) => word !== '');
  const reading = readQuestion(typed, today, questionNames(services));
  if (reading.ok) return reading;
  const subcommands = command === 'cost' ? subcommandsNear(reading, typed) : [];
  const near = reading.nearest.map((form) => correctLine(typed, reading.about, form));
  const meant = [...subcommands, ...near.map((line) => `${command} ${line}`)];
  const others = withoutUnclear(reading, typed).map((line) => `${command} ${line}`);
  const offers = (meant.length > 0 ? meant : others).map(costOffer);
  const hint = meant.length > 0 ? 'Did you mean:' : 'For example:';
  return { ok: false, answer: unclearAnswer(`${unclearQuestionText(reading)} ${hint}`, offers) };
}

type QuestionCosts =
  | { readonly ok: true; readonly read: CostReading }
  | { readonly ok: false; readonly answer: Answer };

/** The costs of these days, read again if the question contains `refresh`. */
export async function readQuestionCosts(
  { refresh }: Pick<CostQuestion, 'refresh'>,
  span: Span,
  { context, asker, typed }: QuestionSource,
): Promise<QuestionCosts> {
  if (!refresh) return { ok: true, read: await context.costs(span) };
  const refreshed = await context.refreshCosts(span, asker.by);
  return refreshed.ok
    ? refreshed
    : { ok: false, answer: notRefreshedAnswer(refreshed.again, typed) };
}

interface QuestionSource {
  readonly context: CostContext;
  readonly asker: Pick<Caller, 'by'>;
  readonly typed: Typed;
}

function notRefreshedAnswer(again: Date, { command, words }: Typed): Answer {
  const rest = words.split(/\s+/).filter((word) => word !== '' && word.toLowerCase() !== 'refresh');
  const line = [command, ...rest].join(' ');
  const reason = 'Costs were refreshed too often in a short time. You can refresh again ';
  return {
    title: 'Not refreshed',
    parts: [
      { kind: 'lines', lines: [[reason, { at: again }, '.']] },
      { kind: 'offers', offers: [{ label: 'Show stored costs', line }] },
    ],
  };
}

/** The words of the same question, without `refresh`; optionally for another period. */
export function questionWords(
  { period, by, scope, versus, top, finalOnly }: CostQuestion,
  word = `${period.first}..${period.last}`,
): string {
  const words = [
    word,
    `by ${by}`,
    ...wordsOfScope(scope),
    finalOnly ? 'final' : null,
    top === null ? null : `top ${top}`,
    versus === null ? null : `vs ${versusWord(period, versus)}`,
  ];
  return words.filter((each) => each !== null).join(' ');
}

/** The typed words without the unclear ones, or common questions if no word is left. */
function withoutUnclear({ about }: UnclearQuestion, typed: readonly string[]): readonly string[] {
  const rest = typed.filter((_, index) => !about.includes(index));
  return rest.length > 0 ? [rest.join(' ')] : COMMON_QUESTIONS;
}

export function unclearAnswer(text: string, offers: readonly CommandOffer[]): Answer {
  return textAnswer("I didn't understand that", text, offers.slice(0, 5));
}

export function costOffer(line: string): CommandOffer {
  return { label: line, line };
}

function subcommandsNear(
  { problem, about }: UnclearQuestion,
  typed: readonly string[],
): readonly string[] {
  const [word = '', ...rest] = typed;
  if (problem !== 'unknown-words' || about[0] !== 0 || word.length < 3) return [];
  return nearest(word, COST_SUBCOMMANDS, 1).map((verb) => ['cost', verb, ...rest].join(' '));
}

/** The names that a question can use. */
export function questionNames(services: readonly Service[]): Names {
  const called = (found: readonly Service[]) => found.map((one) => nameToType(one, services));
  return {
    tag: unique(services.flatMap(({ tags }) => tags ?? [])),
    warehouse: unique(services.flatMap(({ warehouse }) => warehouse ?? [])),
    team: unique(services.flatMap(({ team }) => team ?? [])),
    called: (text) => called(findByName(services, text)),
    near: (text) => {
      // A number alone would be similar to every name of two letters.
      if (!/\p{L}/u.test(text)) return [];
      const names = services.flatMap(({ name, aliases }) => [name, ...aliases]);
      const found = nearest(text, names).flatMap((name) => findByName(services, name));
      return [...new Set(called(found))].slice(0, 3);
    },
  };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
