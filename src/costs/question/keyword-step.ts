import type { Day } from '../../base/time.ts';
import type { CostQuestion, Names, QuestionProblem, ScopeKind } from './question.ts';

/** Names of one kind that the next words add to the question. */
export interface ScopePart {
  readonly kind: ScopeKind;
  readonly names: readonly string[];
}

export interface QuestionPart extends Partial<Omit<CostQuestion, 'scope'>> {
  readonly scope?: ScopePart;
}
/** The meaning of the next words, and how many of them were used. */
export type KeywordStep =
  /** Null for an unknown word. */
  | { readonly ok: true; readonly part: QuestionPart | null; readonly taken: number }
  | KeywordRefusal;

export interface KeywordRefusal {
  readonly ok: false;
  readonly problem: QuestionProblem;
  readonly text: string;
  /** The number of words that a suggestion replaces. */
  readonly taken: number;
  readonly nearest: readonly string[];
}

export interface QuestionContext {
  readonly today: Day;
  readonly names: Names;
}
