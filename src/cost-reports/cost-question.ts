import type { Day } from '../costs/calendar/day.ts';
import {
  type CostQuestion,
  corrected,
  type Names,
  type UnclearQuestion,
} from '../costs/question/question.ts';
import { readQuestion } from '../costs/question/read-question.ts';
import { findByName, type Service } from '../directory/directory.ts';
import type { Answer, CommandOffer } from '../intent/answers/answer.ts';
import { nearest } from '../intent/parse/nearest.ts';
import { nameToType } from '../intent/parse/suggest-line.ts';
import { unclearQuestionText } from './question-text.ts';

/** The other commands of `/cost`, suggested when the first word is not understood. */
export const COST_SUBCOMMANDS = ['anomalies', 'budget', 'csv', 'digest'] as const;

type CostQuestionResult =
  | { readonly ok: true; readonly question: CostQuestion }
  | { readonly ok: false; readonly answer: Answer };

/** Suggestions if no similar question exists. */
const COMMON_QUESTIONS = ['mtd', '7d', 'last-month'];

interface Typed {
  /** The command before the words. */
  readonly command: 'cost' | 'cost csv';
  readonly words: string;
}

/** The question in the typed words, or an answer with suggestions. */
export function readCostQuestion(
  { command, words }: Typed,
  today: Day,
  services: readonly Service[],
): CostQuestionResult {
  const typed = words.split(/\s+/).filter((word) => word !== '');
  const reading = readQuestion(typed, today, namesOf(services));
  if (reading.ok) return reading;
  const subcommands = command === 'cost' ? subcommandsNear(reading, typed) : [];
  const near = reading.nearest.map((form) => corrected(typed, reading.about, form));
  const meant = [...subcommands, ...near.map((line) => `${command} ${line}`)];
  const others = withoutUnclear(reading, typed).map((line) => `${command} ${line}`);
  const offers = (meant.length > 0 ? meant : others).map(costOffer);
  const hint = meant.length > 0 ? 'Did you mean:' : 'For example:';
  return { ok: false, answer: unclearAnswer(`${unclearQuestionText(reading)} ${hint}`, offers) };
}

/** The typed words without the unclear ones, or common questions if no word is left. */
function withoutUnclear({ about }: UnclearQuestion, typed: readonly string[]): readonly string[] {
  const rest = typed.filter((_, index) => !about.includes(index));
  return rest.length > 0 ? [rest.join(' ')] : COMMON_QUESTIONS;
}

export function unclearAnswer(text: string, offers: readonly CommandOffer[]): Answer {
  return {
    title: "I didn't understand that",
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers: offers.slice(0, 5) },
    ],
  };
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

function namesOf(services: readonly Service[]): Names {
  const called = (found: readonly Service[]) => found.map((one) => nameToType(one, services));
  return {
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
