import { quoted } from '../../base/problem.ts';
import type { Day } from '../../base/time.ts';
import type { Answer } from '../../domain/answer.ts';
import type { Service } from '../../domain/targets.ts';
import { similarWords } from '../../maths/period.ts';
import {
  type CostQuestion,
  type QuestionScope,
  readQuestion,
  wordsOfScope,
} from '../../maths/question.ts';
import { costOffer, questionNames, readCostQuestion, unclearAnswer } from './cost-question.ts';

const UNITS = ['month', 'quarter', 'year'] as const;
export type ForecastUnit = (typeof UNITS)[number];

const WORDS: ReadonlyMap<string, ForecastUnit> = new Map([
  ...UNITS.flatMap((unit) => [[unit, unit] as const, [`this-${unit}`, unit] as const]),
  ['mtd', 'month'],
  ['qtd', 'quarter'],
  ['ytd', 'year'],
]);

type ForecastReading =
  | { readonly ok: true; readonly unit: ForecastUnit; readonly question: CostQuestion }
  | { readonly ok: false; readonly answer: Answer };

/**
 * Reads `month`, `quarter` or `year`, a scope and `refresh`, in any order. Default: the month, all
 * costs.
 */
export function readForecastQuestion(
  words: string,
  today: Day,
  services: readonly Service[],
): ForecastReading {
  const typed = words.split(/\s+/).filter((word) => word !== '');
  const units = typed.flatMap((word) => WORDS.get(word.toLowerCase()) ?? []);
  const rest = typed.filter((word) => !WORDS.has(word.toLowerCase()));
  if (new Set(units).size > 1) return refused(`${quoted(units.join(' '))}: choose one.`, rest);
  const [unit = 'month'] = units;
  const reading = readQuestion(rest, today, questionNames(services));
  if (reading.ok && isScopeOnly(reading.question, today, services)) {
    return { ok: true, unit, question: reading.question };
  }
  const near = similarWords(rest[0] ?? '', UNITS);
  if (!reading.ok && reading.problem !== 'unknown-words' && near.length === 0) {
    const typedWords = { command: 'cost forecast', words: rest.join(' ') } as const;
    const misread = readCostQuestion(typedWords, today, services);
    if (!misread.ok) return misread;
  }
  const scopes = reading.ok ? [] : reading.nearest.filter((form) => isScope(form, today, services));
  const text = `${quoted(rest.join(' '))} is not understood here. Use month, quarter or year, and a service, tag, warehouse or team.`;
  const found = [...near, ...scopes];
  return refused(text, [], found.length > 0 ? found : UNITS);
}

/** The same question, without `refresh`. */
export function forecastWords(unit: ForecastUnit, scope: QuestionScope): string {
  return [unit, ...wordsOfScope(scope)].join(' ');
}

function refused(
  text: string,
  scope: readonly string[],
  forms: readonly string[] = UNITS,
): ForecastReading {
  const offers = forms.map((form) => costOffer(['cost forecast', form, ...scope].join(' ')));
  return { ok: false, answer: unclearAnswer(`${text} For example:`, offers) };
}

function isScope(form: string, today: Day, services: readonly Service[]): boolean {
  const reading = readQuestion(form.split(' '), today, questionNames(services));
  return reading.ok && isScopeOnly(reading.question, today, services);
}

/** Whether the words have no period, grouping or comparison: a forecast takes none. */
function isScopeOnly(
  { scope: _, refresh: __, ...rest }: CostQuestion,
  today: Day,
  services: readonly Service[],
): boolean {
  const plain = readQuestion([], today, questionNames(services));
  if (!plain.ok) return false;
  const { scope: ___, refresh: ____, ...usual } = plain.question;
  return JSON.stringify(rest) === JSON.stringify(usual);
}
