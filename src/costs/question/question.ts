import type { By } from '../ledger/grouping.ts';
import type { Period } from './period.ts';
import type { PeriodProblem } from './period-grammar.ts';
import type { Versus } from './versus.ts';

/** What a person wants to know of the costs. */
export interface CostQuestion {
  readonly period: Period;
  readonly by: Exclude<By, 'entity-metric'>;
  readonly versus: Versus | null;
  /** So many lines, the dearest; null: as many as there is room for. */
  readonly top: number | null;
  /** Days that can still change are left out. */
  readonly finalOnly: boolean;
  /** The name of a service as it was typed; exactly one is called so. */
  readonly only: string | null;
}

/** What services are called. */
export interface Names {
  /** What to type for each service of this name; more than one where services share it. */
  readonly called: (text: string) => readonly string[];
  /** The names most like it, the likest first; none where nothing is near. */
  readonly near: (text: string) => readonly string[];
}

export type QuestionProblem =
  | PeriodProblem
  | 'no-grouping'
  | 'no-comparison'
  | 'no-number'
  | 'no-name'
  | 'unknown-service'
  | 'shared-name'
  | 'two-services'
  | 'has-a-key'
  | 'said-twice';

export interface UnclearQuestion {
  readonly ok: false;
  readonly problem: QuestionProblem;
  /** The word or words that it is about; empty where one is missing. */
  readonly text: string;
  /** What was said before it and cannot stand beside it; empty where there is nothing of the kind. */
  readonly beside: string;
  /** The places of the words in whose stead the nearest may stand. */
  readonly about: readonly number[];
  readonly nearest: readonly string[];
}

export type QuestionReading =
  | { readonly ok: true; readonly question: CostQuestion }
  | UnclearQuestion;

/** The words with something else in the place of those that were misread, and nothing else lost. */
export function corrected(
  words: readonly string[],
  about: readonly number[],
  near: string,
): string {
  const [place = words.length] = about;
  const before = words.slice(0, place);
  const after = words.filter((_, index) => index >= place && !about.includes(index));
  return [...before, near, ...after].join(' ');
}
