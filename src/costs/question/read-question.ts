import { isDay } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import { GROUPINGS } from '../ledger/grouping.ts';
import {
  KEYWORDS,
  type KeywordRefusal,
  type KeywordStep,
  nameAt,
  type QuestionContext,
  type QuestionPart,
} from './keywords.ts';
import { readPeriod } from './period.ts';
import { close, periodForms } from './period-forms.ts';
import { periodAt } from './period-words.ts';
import type { Names, QuestionReading, UnclearQuestion } from './question.ts';

const DEFAULT_PERIOD = 'mtd';
const OFFERED = 3;

/**
 * The words after `/cost`, in any order → a question: a period, `by …`, `vs …`, `top N`, `final`
 * and one service, by its name or behind `only`, where it may be called like anything else. Nothing
 * said: `mtd by service`. `final` alone is a period, the last final day; beside a period it leaves
 * out what can still change. Whatever is not understood is refused with the nearest accepted words,
 * never guessed, and nothing may be said twice. Source: docs/costs.md#periods.
 */
export function readQuestion(words: readonly string[], today: Day, names: Names): QuestionReading {
  const said: QuestionPart = {};
  const places = new Map<string, readonly number[]>();
  const unknown: number[] = [];
  for (let at = 0; at < words.length; ) {
    const step = stepAt(words.slice(at), { today, names });
    const own = placesOf(at, step.taken);
    if (!step.ok) return misread(step, own);
    const [key] = Object.keys(step.said ?? {});
    const before = key === undefined ? undefined : places.get(key);
    if (key && before) return twice(key, words, [before, own]);
    if (key) places.set(key, own);
    else unknown.push(...own);
    Object.assign(said, step.said);
    at += step.taken;
  }
  return unknown.length > 0 ? unheardOf(words, unknown, { today, names }) : questionOf(said, today);
}

function placesOf(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

function misread(
  { taken, ...refusal }: KeywordRefusal,
  about: readonly number[],
  beside = '',
): UnclearQuestion {
  return { ...refusal, about, beside };
}

function questionOf(said: QuestionPart, today: Day): QuestionReading {
  const { by = 'service', versus = null, top = null, only = null } = said;
  const rest = { by, versus, top, only };
  if (said.period) {
    const { period, finalOnly = false } = said;
    return { ok: true, question: { ...rest, period, finalOnly } };
  }
  const word = said.finalOnly ? 'final' : DEFAULT_PERIOD;
  const reading = readPeriod(word, today);
  if (!reading.ok) return misread({ ...reading, text: word, taken: 0 }, []);
  return { ok: true, question: { ...rest, period: reading.period, finalOnly: false } };
}

function stepAt(words: readonly string[], around: QuestionContext): KeywordStep {
  const [typed = '', ...rest] = words;
  const keyword = KEYWORDS.get(typed.toLowerCase());
  // The nearest of a keyword have it in them, so that they stand in its place too.
  if (keyword) return oneMore(keyword(rest, around));
  if (typed.toLowerCase() === 'final') return { ok: true, said: { finalOnly: true }, taken: 1 };
  if (/^[a-z]+=/i.test(typed)) return keyed(typed);

  const period = periodAt(words, around.today);
  const named = nameAt(words, around.names, period?.reading.ok ? period.taken + 1 : 1);
  if (named) return named;
  if (!period) return { ok: true, said: null, taken: 1 };
  const { reading, taken } = period;
  if (reading.ok) return { ok: true, said: { period: reading.period }, taken };
  const { problem, nearest } = reading;
  return { ok: false, problem, text: words.slice(0, taken).join(' '), taken, nearest };
}

function oneMore(step: KeywordStep): KeywordStep {
  return { ...step, taken: step.taken + 1 };
}

/** Other commands have keys: what stands behind one is most likely what would do without it. */
function keyed(text: string): KeywordRefusal {
  const [key = '', value = ''] = text.toLowerCase().split('=', 2);
  const plain = ['period', 'service', 'days'].includes(key) ? [value] : [];
  const nearest = KEYWORDS.has(key) ? [`${key} ${value}`] : plain;
  return { ok: false, problem: 'has-a-key', text, taken: 1, nearest };
}

function twice(
  key: string,
  words: readonly string[],
  [before, own]: readonly [readonly number[], readonly number[]],
): UnclearQuestion {
  const said = (places: readonly number[]) => places.map((place) => words[place]).join(' ');
  const [first, second] = [said(before), said(own)];
  const isPair = key === 'period' && isDay(first) && isDay(second);
  const both = isPair ? [[first, second].sort().join('..')] : [];
  const problem = key === 'only' ? 'two-services' : 'said-twice';
  const nearest = [...both, ...new Set([first, second])];
  const about = [...before, ...own];
  return misread({ ok: false, problem, text: second, taken: 0, nearest }, about, first);
}

/** The first of the words that nobody knows, with those that follow right behind it. */
function unheardOf(
  words: readonly string[],
  places: readonly number[],
  { today, names }: QuestionContext,
): UnclearQuestion {
  const about = places.filter((place, index) => place === (places[0] ?? 0) + index);
  const text = about.map((place) => words[place]).join(' ');
  const groupings = close(text, GROUPINGS).map((known) => `by ${known}`);
  const near = [...groupings, ...names.near(text), ...close(text, periodForms(today))];
  const nearest = [...new Set(near)].slice(0, OFFERED);
  return misread({ ok: false, problem: 'unknown-words', text, taken: 0, nearest }, about);
}
