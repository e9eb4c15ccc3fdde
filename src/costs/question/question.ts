import type { Grouping } from '../ledger/grouping.ts';
import type { Period } from './period.ts';
import type { PeriodProblem } from './period-grammar.ts';
import type { Versus } from './versus.ts';

/** What a question can be restricted to. */
export const SCOPE_KINDS = ['service', 'tag', 'warehouse', 'team'] as const;
export type ScopeKind = (typeof SCOPE_KINDS)[number];

/** The names of a question. Without any name of a kind, it is not restricted by that kind. */
export type QuestionScope = Readonly<Record<ScopeKind, readonly string[]>>;

export const ALL_COSTS: QuestionScope = { service: [], tag: [], warehouse: [], team: [] };

/** A question about costs. */
export interface CostQuestion {
  readonly period: Period;
  readonly by: Grouping;
  readonly versus: Versus | null;
  /** The number of lines, the most expensive ones; null: as many as fit. */
  readonly top: number | null;
  /** Leaves out days that are not final. */
  readonly finalOnly: boolean;
  readonly scope: QuestionScope;
  /** Reads the report again now. */
  readonly refresh: boolean;
}

/** The names that a question can use. */
export interface Names {
  readonly tag: readonly string[];
  readonly warehouse: readonly string[];
  readonly team: readonly string[];
  /** A unique name for each service of this name; more than one if services share it. */
  readonly called: (text: string) => readonly string[];
  /** Similar names, the most similar first; often none. */
  readonly near: (text: string) => readonly string[];
}

export type QuestionProblem =
  | PeriodProblem
  | 'no-grouping'
  | 'no-comparison'
  | 'no-number'
  | 'unknown-service'
  | 'unknown-tag'
  | 'unknown-warehouse'
  | 'unknown-team'
  | 'shared-name'
  | 'has-a-key'
  | 'given-twice';

export interface UnclearQuestion {
  readonly ok: false;
  readonly problem: QuestionProblem;
  /** The problematic words; empty if a word is missing. */
  readonly text: string;
  /** The earlier words that cannot be combined with `text`; empty if there are none. */
  readonly earlier: string;
  /** The positions of the words that a suggestion replaces. */
  readonly about: readonly number[];
  readonly nearest: readonly string[];
}

export type QuestionReading =
  | { readonly ok: true; readonly question: CostQuestion }
  | UnclearQuestion;

/** The words that select the same costs; `only` because a name may equal a keyword. */
export function wordsOfScope(scope: QuestionScope): readonly string[] {
  return SCOPE_KINDS.flatMap((kind) =>
    scope[kind].map((name) => `${kind === 'service' ? 'only' : kind} ${name}`),
  );
}

/** The typed words with a suggestion in place of the problematic ones. */
export function correctLine(
  words: readonly string[],
  about: readonly number[],
  near: string,
): string {
  const [place = words.length] = about;
  const before = words.slice(0, place);
  const after = words.filter((_, index) => index >= place && !about.includes(index));
  return [...before, near, ...after].join(' ');
}
