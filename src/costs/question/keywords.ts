import type { Day } from '../calendar/day.ts';
import { GROUPINGS } from '../ledger/grouping.ts';
import { alike, close } from './period-forms.ts';
import { periodAt } from './period-words.ts';
import type { CostQuestion, Names, QuestionProblem } from './question.ts';

export type QuestionPart = Partial<CostQuestion>;
/** What the words from some place on say, and how many of them say it. */
export type KeywordStep =
  /** Null: a word that nobody knows. */
  | { readonly ok: true; readonly said: QuestionPart | null; readonly taken: number }
  | KeywordRefusal;

export interface KeywordRefusal {
  readonly ok: false;
  readonly problem: QuestionProblem;
  readonly text: string;
  /** How many words the nearest would stand in the place of. */
  readonly taken: number;
  readonly nearest: readonly string[];
}

export interface QuestionContext {
  readonly today: Day;
  readonly names: Names;
}
type StepReader = (words: readonly string[], around: QuestionContext) => KeywordStep;

const VERSUS = ['prev', 'last-week', 'last-month'] as const;
export const MOST_LINES = 100;

/** What may follow a keyword; the words begin with the one after it. */
export const KEYWORDS: ReadonlyMap<string, StepReader> = new Map([
  ['by', readGrouping],
  ['vs', readVersus],
  ['top', readTop],
  ['only', readOnly],
]);

function readGrouping([typed = '']: readonly string[]): KeywordStep {
  const by = GROUPINGS.find((grouping) => grouping === typed.toLowerCase());
  if (by !== undefined) return { ok: true, said: { by }, taken: 1 };
  return missed('no-grouping', typed, nearestOf(typed, GROUPINGS, 'by '));
}

function readVersus(words: readonly string[], { today }: QuestionContext): KeywordStep {
  for (const count of [2, 1]) {
    const word = words.slice(0, count).join('-').toLowerCase();
    const versus = VERSUS.find((known) => known === word);
    if (versus !== undefined) return { ok: true, said: { versus }, taken: count };
  }
  const [typed = ''] = words;
  const period = typed === '' ? null : periodAt(words, today);
  if (!period) return missed('no-comparison', typed, nearestOf(typed, VERSUS, 'vs '));
  const { taken, reading } = period;
  const text = words.slice(0, taken).join(' ');
  if (!reading.ok) {
    const { problem, nearest } = reading;
    return { ok: false, problem, text, taken, nearest: nearest.map((form) => `vs ${form}`) };
  }
  if (!reading.period.lastFinalOnly) return { ok: true, said: { versus: reading.period }, taken };
  return missed('no-comparison', typed, nearestOf(typed, VERSUS, 'vs '));
}

function readTop([typed = '']: readonly string[]): KeywordStep {
  const top = /^\d{1,3}$/.test(typed) ? Number(typed) : 0;
  if (top >= 1 && top <= MOST_LINES) return { ok: true, said: { top }, taken: 1 };
  return missed('no-number', typed, ['top 5', 'top 10', `top ${MOST_LINES}`]);
}

/** The longest name from here on, which may hold words that mean something elsewhere. */
function readOnly(words: readonly string[], { names }: QuestionContext): KeywordStep {
  const named = nameAt(words, names);
  if (named) return named;
  const end = words.findIndex((word) => KEYWORDS.has(word.toLowerCase()));
  const own = end < 0 ? words : words.slice(0, end);
  const text = own.join(' ');
  if (text === '') return missed('no-name', '', []);
  const nearest = names.near(text);
  return { ok: false, problem: 'unknown-service', text, taken: own.length, nearest };
}

const LONGEST_NAME_WORDS = 8;

/** The longest run of words that is the name of a service, of at least so many words. */
export function nameAt(words: readonly string[], names: Names, least = 1): KeywordStep | null {
  for (let taken = Math.min(LONGEST_NAME_WORDS, words.length); taken >= least; taken -= 1) {
    const only = words.slice(0, taken).join(' ');
    const called = names.called(only);
    if (called.length === 1) return { ok: true, said: { only }, taken };
    if (called.length > 1) {
      return { ok: false, problem: 'shared-name', text: only, taken, nearest: called };
    }
  }
  return null;
}

/** The word after a keyword is wrong, or there is none. */
function missed(
  problem: QuestionProblem,
  text: string,
  nearest: readonly string[],
): KeywordRefusal {
  return { ok: false, problem, text, taken: text === '' ? 0 : 1, nearest };
}

function nearestOf(typed: string, known: readonly string[], before: string): readonly string[] {
  const near = close(typed, known);
  return (near.length > 0 ? near : alike(typed, known))
    .slice(0, 3)
    .map((word) => `${before}${word}`);
}
