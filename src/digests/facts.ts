import type { Span } from '../costs/calendar/calendar.ts';
import type { Day } from '../costs/calendar/day.ts';
import type { CostsRead } from '../costs/ledger/costs-read.ts';
import type { RowSelector } from '../costs/ledger/ledger.ts';
import type { PostedDay } from '../costs/ledger/revision.ts';
import type { AnswerPart } from '../intent/answers/answer.ts';
import type { DigestOptionsConfig } from './subscriptions/options.ts';

/** A change that ran, as the digest names it. */
export interface RanChange {
  readonly day: Day;
  /** `Scale analytics-prod (7KQ2MX)` */
  readonly text: string;
}

/** Something unusual in a line, with its buttons where somebody may press on it. */
export interface Noticed {
  readonly text: string;
  readonly deeds: AnswerPart | null;
}

/** What others found out about the same days, in words for the digest. */
export interface WatchedCosts {
  /** Null: nobody looked, so that nothing is said of it. */
  readonly unusual: readonly Noticed[] | null;
  readonly budgets: readonly string[];
}

export type DigestOptions = Pick<
  DigestOptionsConfig,
  'period' | 'sections' | 'minimumCredits' | 'increasesOnly'
>;

/** All that a digest is made of; nothing is looked up while it is composed. */
export interface DigestFacts {
  readonly read: CostsRead;
  /** The UTC day on which it is composed. */
  readonly today: Day;
  /** The UTC days that ended since the last one. */
  readonly covers: Span;
  readonly selector: RowSelector;
  /** What the selector picks, in words; null: everything. */
  readonly scope: string | null;
  readonly options: DigestOptions;
  readonly posted: readonly PostedDay[];
  readonly changes: readonly RanChange[];
  readonly watched: WatchedCosts;
  readonly next: Date | null;
}
