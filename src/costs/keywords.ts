import type { Day } from './day.ts';
import { GROUPINGS } from './grouping.ts';
import { readPeriod } from './period.ts';
import { alike } from './period-forms.ts';
import { isPeriodLike } from './period-grammar.ts';
import type { Question, QuestionProblem, QuestionReading } from './question.ts';

export type Refusal = Extract<QuestionReading, { readonly ok: false }>;
export type Said = Partial<Question>;
/** What the words from some place on say, and how many of them say it. */
export type Step = { readonly ok: true; readonly said: Said; readonly taken: number } | Refusal;
type StepReader = (words: readonly string[], today: Day) => Step;

const VERSUS = ['prev', 'last-week', 'last-month'] as const;
const MOST_LINES = 100;

/** What may follow a keyword; the words begin with the one after it. */
export const KEYWORDS: ReadonlyMap<string, StepReader> = new Map([
  ['by', readGrouping],
  ['vs', readVersus],
  ['top', readTop],
  ['only', readOnly],
]);

function readGrouping([typed = '']: readonly string[]): Step {
  const by = GROUPINGS.find((grouping) => grouping === typed.toLowerCase());
  if (by !== undefined) return { ok: true, said: { by }, taken: 1 };
  return refused('no-grouping', typed, nearestOf(typed, GROUPINGS, 'by '));
}

function readVersus([typed = '']: readonly string[], today: Day): Step {
  const word = typed.toLowerCase();
  const versus = VERSUS.find((known) => known === word);
  if (versus !== undefined) return { ok: true, said: { versus }, taken: 1 };
  const reading = readPeriod(word, today);
  if (reading.ok && !reading.period.lastFinalOnly) {
    return { ok: true, said: { versus: reading.period }, taken: 1 };
  }
  const isPeriod = !reading.ok && isPeriodLike(word);
  if (isPeriod) return refused(reading.problem, typed, reading.nearest.map(afterVersus));
  return refused('no-comparison', typed, nearestOf(typed, VERSUS, 'vs '));
}

function afterVersus(form: string): string {
  return `vs ${form}`;
}

function readTop([typed = '']: readonly string[]): Step {
  const top = /^\d{1,3}$/.test(typed) ? Number(typed) : 0;
  if (top >= 1 && top <= MOST_LINES) return { ok: true, said: { top }, taken: 1 };
  return refused('no-number', typed, ['top 5', 'top 10', `top ${MOST_LINES}`]);
}

function readOnly(words: readonly string[]): Step {
  const end = words.findIndex((word) => KEYWORDS.has(word.toLowerCase()));
  const own = end < 0 ? words : words.slice(0, end);
  if (own.length === 0) return refused('no-name', '');
  return { ok: true, said: { only: own.join(' ') }, taken: own.length };
}

function nearestOf(typed: string, known: readonly string[], before: string): readonly string[] {
  return alike(typed, known)
    .slice(0, 3)
    .map((word) => `${before}${word}`);
}

export function refused(
  problem: QuestionProblem,
  text: string,
  nearest: readonly string[] = [],
): Refusal {
  return { ok: false, problem, text, nearest };
}
