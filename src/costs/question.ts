import type { By } from './grouping.ts';
import type { Period } from './period.ts';
import type { PeriodProblem } from './period-grammar.ts';
import type { Versus } from './versus.ts';

/** What a person wants to know of the costs. */
export interface Question {
  readonly period: Period;
  readonly by: Exclude<By, 'entity-metric'>;
  readonly versus: Versus | null;
  /** So many lines, the dearest; null: as many as there is room for. */
  readonly top: number | null;
  /** Days that can still change are left out. */
  readonly finalOnly: boolean;
  /** The name of a service as it was typed. */
  readonly only: string | null;
}

export type QuestionProblem =
  | PeriodProblem
  | 'no-grouping'
  | 'no-comparison'
  | 'no-number'
  | 'no-name'
  | 'said-twice';

export type QuestionReading =
  | { readonly ok: true; readonly question: Question }
  | {
      readonly ok: false;
      readonly problem: QuestionProblem;
      /** The word or words that it is about; empty where one is missing. */
      readonly text: string;
      readonly nearest: readonly string[];
    };
