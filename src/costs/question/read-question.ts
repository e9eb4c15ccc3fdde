import { isDay } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import { GROUPINGS } from '../ledger/grouping.ts';
import type { KeywordRefusal, KeywordStep, QuestionContext, QuestionPart } from './keyword-step.ts';
import { KEYWORDS } from './keywords.ts';
import { readPeriod } from './period.ts';
import { periodForms, similarWords } from './period-forms.ts';
import { periodAt } from './period-words.ts';
import {
  ALL_COSTS,
  type CostQuestion,
  type Names,
  type QuestionReading,
  type UnclearQuestion,
} from './question.ts';
import { addToScope, isScopeKind, readServices, serviceAt, similarScopes } from './scope-words.ts';

const DEFAULT_PERIOD = 'mtd';
const FLAGS: ReadonlyMap<string, QuestionPart> = new Map([
  ['final', { finalOnly: true }],
  ['refresh', { refresh: true }],
]);
const OFFERED = 3;

type Parts = Partial<CostQuestion>;
type Places = Map<string, readonly number[]>;

/**
 * Reads the words after `/cost`, in any order: a period, `by …`, `vs …`, `top N`,
 * `final`, `refresh`, and the names of services, or `tag`, `warehouse` and `team` with a name. After `only`, the
 * name of a service may equal a keyword. Default: `mtd by service`. `final` alone is a period, the
 * last final day; with a period it leaves out days that are not final. Unknown words are never guessed
 * but refused with suggestions. Source: docs/commands.md#cost-questions.
 */
export function readQuestion(words: readonly string[], today: Day, names: Names): QuestionReading {
  let parts: Parts = {};
  const places: Places = new Map();
  const unknown: number[] = [];
  for (let at = 0; at < words.length; ) {
    const step = stepAt(words.slice(at), { today, names });
    const own = placesOf(at, step.taken);
    if (!step.ok) return misread(step, own);
    const [key] = Object.keys(step.part ?? {});
    if (step.part === null || key === undefined) unknown.push(...own);
    else {
      const before = key === 'scope' ? undefined : places.get(key);
      if (before) return repeated(key, words, [before, own]);
      places.set(key, own);
      parts = withPart(parts, step.part);
    }
    at += step.taken;
  }
  if (unknown.length > 0) return unknownWords(words, unknown, { today, names });
  return questionOf(parts, today);
}

function withPart(parts: Parts, { scope, ...part }: QuestionPart): Parts {
  if (scope) return { ...parts, scope: addToScope(parts.scope ?? ALL_COSTS, scope) };
  return { ...parts, ...part };
}

function placesOf(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

function misread(
  { taken, ...refusal }: KeywordRefusal,
  about: readonly number[],
  earlier = '',
): UnclearQuestion {
  return { ...refusal, about, earlier };
}

function questionOf(parts: Parts, today: Day): QuestionReading {
  const { by = 'service', versus = null, top = null, scope = ALL_COSTS } = parts;
  const rest = { by, versus, top, scope, refresh: parts.refresh ?? false };
  if (parts.period) {
    const { period, finalOnly = false } = parts;
    return { ok: true, question: { ...rest, period, finalOnly } };
  }
  const word = parts.finalOnly ? 'final' : DEFAULT_PERIOD;
  const reading = readPeriod(word, today);
  if (!reading.ok) return misread({ ...reading, text: word, taken: 0 }, []);
  return { ok: true, question: { ...rest, period: reading.period, finalOnly: false } };
}

function stepAt(words: readonly string[], context: QuestionContext): KeywordStep {
  const [typed = '', ...rest] = words;
  const keyword = KEYWORDS.get(typed.toLowerCase());
  // The suggestions of a keyword contain the keyword, so they replace it too.
  if (keyword) return oneMore(keyword(rest, context));
  const flag = FLAGS.get(typed.toLowerCase());
  if (flag) return { ok: true, part: flag, taken: 1 };
  if (/^[a-z]+=/i.test(typed)) return keyed(typed, context);

  const period = periodAt(words, context.today);
  const named = serviceAt(words, context.names, period?.reading.ok ? period.taken + 1 : 1);
  if (named) return named;
  if (!period) return { ok: true, part: null, taken: 1 };
  const { reading, taken } = period;
  if (reading.ok) return { ok: true, part: { period: reading.period }, taken };
  const { problem, nearest } = reading;
  return { ok: false, problem, text: words.slice(0, taken).join(' '), taken, nearest };
}

function oneMore(step: KeywordStep): KeywordStep {
  return { ...step, taken: step.taken + 1 };
}

/**
 * `tag=prod`, as in the commands about digests. Other keys do not exist here: the value without its
 * key is the most likely meaning.
 */
function keyed(text: string, context: QuestionContext): KeywordStep {
  const [key = '', value = ''] = text.split('=', 2);
  const word = key.toLowerCase();
  if (word === 'service') return { ...readServices(value, context), taken: 1 };
  const reader = KEYWORDS.get(word);
  if (reader && isScopeKind(word)) return { ...reader([value], context), taken: 1 };
  const plain = ['period', 'days'].includes(word) ? [value.toLowerCase()] : [];
  const nearest = reader ? [`${word} ${value.toLowerCase()}`] : plain;
  return { ok: false, problem: 'has-a-key', text, taken: 1, nearest };
}

/** A part that may occur once. */
function repeated(
  key: string,
  words: readonly string[],
  [before, own]: readonly [readonly number[], readonly number[]],
): UnclearQuestion {
  const textAt = (places: readonly number[]) => places.map((place) => words[place]).join(' ');
  const [first, second] = [textAt(before), textAt(own)];
  const isPair = key === 'period' && isDay(first) && isDay(second);
  const both = isPair ? [[first, second].sort().join('..')] : [];
  const nearest = [...both, ...new Set([first, second])];
  const about = [...before, ...own];
  return misread(
    { ok: false, problem: 'given-twice', text: second, taken: 0, nearest },
    about,
    first,
  );
}

/** The first unknown word, with the unknown words right after it. */
function unknownWords(
  words: readonly string[],
  places: readonly number[],
  { today, names }: QuestionContext,
): UnclearQuestion {
  const about = places.filter((place, index) => place === (places[0] ?? 0) + index);
  const text = about.map((place) => words[place]).join(' ');
  const groupings = similarWords(text, GROUPINGS).map((known) => `by ${known}`);
  const near = [
    ...groupings,
    ...names.near(text),
    ...similarScopes(text, names),
    ...similarWords(text, [...periodForms(today), ...FLAGS.keys()]),
  ];
  const nearest = [...new Set(near)].slice(0, OFFERED);
  return misread({ ok: false, problem: 'unknown-words', text, taken: 0, nearest }, about);
}
