import type { Span } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import type { BudgetSummary } from '../budgets/budget-text.ts';
import type { DigestOptionsConfig } from '../config/digest-options.ts';
import type { AnswerPart } from '../domain/answer.ts';
import type { DayState, RowSelector } from '../maths/days.ts';
import type { CostReading, PostedDay } from '../maths/report.ts';

/** A change that ran, as a line of the digest. */
export interface ExecutedChange {
  readonly day: Day;
  /** `Scale analytics-prod (7KQ2MX)` */
  readonly text: string;
}

/** An anomaly as a line of the digest. */
export interface AnomalyItem {
  readonly text: string;
  readonly buttons: AnswerPart;
}

export interface DigestBudget extends BudgetSummary {
  /** Whether the budget covers exactly the costs of the digest. */
  readonly isOwn: boolean;
}

export interface DigestAttention {
  /** Null if the last scan is too old to claim that nothing is unusual. */
  readonly anomalies: readonly AnomalyItem[] | null;
  readonly budgets: readonly DigestBudget[];
}

type DigestOptions = Pick<
  DigestOptionsConfig,
  'period' | 'sections' | 'minimumCredits' | 'increasesOnly'
>;

/** Everything that a digest shows. Composing it reads nothing else. */
export interface DigestFacts {
  readonly read: CostReading;
  /** The UTC day on which the digest is composed. */
  readonly today: Day;
  /** The states of all days of `rowsNeeded(today)`, for the whole organization. */
  readonly states: readonly DayState[];
  /** The UTC days that ended since the last digest. */
  readonly covers: Span;
  readonly selector: RowSelector;
  /** The services or warehouses of the digest, as text; null for all costs. */
  readonly scope: string | null;
  /** The services with costs and unknown tags, which a scope with tags leaves out. */
  readonly untagged: number;
  readonly options: DigestOptions;
  readonly posted: readonly PostedDay[];
  readonly changes: readonly ExecutedChange[];
  readonly attention: DigestAttention;
  /** When the next digest is due, if the digest is scheduled. */
  readonly next: Date | null;
}
