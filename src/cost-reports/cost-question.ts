import type { Day } from '../costs/calendar/day.ts';
import {
  type CostQuestion,
  mended,
  type Names,
  type UnclearQuestion,
} from '../costs/question/question.ts';
import { readQuestion } from '../costs/question/read-question.ts';
import { findByName, type Service } from '../directory/directory.ts';
import type { Answer, CommandOffer } from '../intent/answers/answer.ts';
import { nearest } from '../intent/parse/nearest.ts';
import { nameToType } from '../intent/parse/suggest-line.ts';
import { misreadText } from './question-text.ts';

/** What else can be asked of costs; the first word of a line that is not understood may be one. */
export const BESIDES = ['anomalies', 'budget', 'csv', 'digest'] as const;

type Asked =
  | { readonly ok: true; readonly question: CostQuestion }
  | { readonly ok: false; readonly answer: Answer };

/** What is offered where nothing is near: the forms that people want most. */
const USUAL = ['mtd', '7d', 'last-month'];

interface Typed {
  /** The command that they were typed behind. */
  readonly command: 'cost' | 'cost csv';
  readonly words: string;
}

/** The question in what somebody typed, or an answer that offers what may have been meant. */
export function askedOf(
  { command, words }: Typed,
  today: Day,
  services: readonly Service[],
): Asked {
  const said = words.split(/\s+/).filter((word) => word !== '');
  const reading = readQuestion(said, today, namesOf(services));
  if (reading.ok) return reading;
  const besides = command === 'cost' ? besidesOf(reading, said) : [];
  const near = reading.nearest.map((form) => mended(said, reading.about, form));
  const meant = [...besides, ...near.map((line) => `${command} ${line}`)];
  const others = withoutIt(reading, said).map((line) => `${command} ${line}`);
  const offers = (meant.length > 0 ? meant : others).map(costOffer);
  const hint = meant.length > 0 ? 'Did you mean:' : 'For example:';
  return { ok: false, answer: unclear(`${misreadText(reading)} ${hint}`, offers) };
}

/** Where nothing is near: the rest of what was typed, as far as there is a rest. */
function withoutIt({ about }: UnclearQuestion, said: readonly string[]): readonly string[] {
  const rest = said.filter((_, index) => !about.includes(index));
  return rest.length > 0 ? [rest.join(' ')] : USUAL;
}

export function unclear(text: string, offers: readonly CommandOffer[]): Answer {
  return {
    title: 'That is not clear',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers: offers.slice(0, 5) },
    ],
  };
}

export function costOffer(line: string): CommandOffer {
  return { label: line, line };
}

function besidesOf(
  { problem, about }: UnclearQuestion,
  said: readonly string[],
): readonly string[] {
  const [typed = '', ...rest] = said;
  if (problem !== 'unknown-words' || about[0] !== 0 || typed.length < 3) return [];
  return nearest(typed, BESIDES, 1).map((verb) => ['cost', verb, ...rest].join(' '));
}

function namesOf(services: readonly Service[]): Names {
  const called = (found: readonly Service[]) => found.map((one) => nameToType(one, services));
  return {
    called: (text) => called(findByName(services, text)),
    near: (text) => {
      // A bare number is like every name of two letters.
      if (!/\p{L}/u.test(text)) return [];
      const names = services.flatMap(({ name, aliases }) => [name, ...aliases]);
      const found = nearest(text, names).flatMap((name) => findByName(services, name));
      return [...new Set(called(found))].slice(0, 3);
    },
  };
}
