import { GROUPINGS } from '../ledger/grouping.ts';
import type { KeywordRefusal, KeywordStep, QuestionContext } from './keyword-step.ts';
import { bySimilarity, similarWords } from './period-forms.ts';
import { periodAt } from './period-words.ts';
import type { QuestionProblem } from './question.ts';
import { readNamed, refusedName, serviceAt } from './scope-words.ts';

type StepReader = (words: readonly string[], context: QuestionContext) => KeywordStep;

const VERSUS = ['prev', 'last-week', 'last-month'] as const;
export const MOST_LINES = 100;

/** Readers of the words after a keyword. */
export const KEYWORDS: ReadonlyMap<string, StepReader> = new Map([
  ['by', readGrouping],
  ['vs', readVersus],
  ['top', readTop],
  ['only', readOnly],
  ['tag', (words, context) => readNamed('tag', words, context)],
  ['warehouse', (words, context) => readNamed('warehouse', words, context)],
  ['team', (words, context) => readNamed('team', words, context)],
]);

function readGrouping([typed = '']: readonly string[]): KeywordStep {
  const by = GROUPINGS.find((grouping) => grouping === typed.toLowerCase());
  if (by !== undefined) return { ok: true, part: { by }, taken: 1 };
  return missed('no-grouping', typed, nearestOf(typed, GROUPINGS, 'by '));
}

function readVersus(words: readonly string[], { today }: QuestionContext): KeywordStep {
  for (const count of [2, 1]) {
    const word = words.slice(0, count).join('-').toLowerCase();
    const versus = VERSUS.find((known) => known === word);
    if (versus !== undefined) return { ok: true, part: { versus }, taken: count };
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
  if (!reading.period.lastFinalOnly) return { ok: true, part: { versus: reading.period }, taken };
  return missed('no-comparison', typed, nearestOf(typed, VERSUS, 'vs '));
}

function readTop([typed = '']: readonly string[]): KeywordStep {
  const top = /^\d{1,3}$/.test(typed) ? Number(typed) : 0;
  if (top >= 1 && top <= MOST_LINES) return { ok: true, part: { top }, taken: 1 };
  return missed('no-number', typed, ['top 5', 'top 10', `top ${MOST_LINES}`]);
}

/** The longest service name at the start, which may contain keywords. */
function readOnly(words: readonly string[], { names }: QuestionContext): KeywordStep {
  const named = serviceAt(words, names);
  if (named) return named;
  const end = words.findIndex((word) => KEYWORDS.has(word.toLowerCase()));
  const own = end < 0 ? words : words.slice(0, end);
  const text = own.join(' ');
  return refusedName('service', text, text === '' ? [] : names.near(text), own.length);
}

/** The word after a keyword is invalid or missing. */
function missed(
  problem: QuestionProblem,
  text: string,
  nearest: readonly string[],
): KeywordRefusal {
  return { ok: false, problem, text, taken: text === '' ? 0 : 1, nearest };
}

function nearestOf(typed: string, known: readonly string[], before: string): readonly string[] {
  const near = similarWords(typed, known);
  return (near.length > 0 ? near : bySimilarity(typed, known))
    .slice(0, 3)
    .map((word) => `${before}${word}`);
}
