import type { ReportProblem } from './report-problem.ts';
import type { CostRow } from './row.ts';

/** What could be read of a span of days, and how much it may be trusted. */
export interface CostReading {
  readonly rows: readonly CostRow[];
  /** When the oldest part of it was fetched; null where there is nothing at all. */
  readonly fetchedAt: Date | null;
  readonly problems: readonly ReportProblem[];
  /** Parts that could not be read just now: what stands there is from before, or nothing. */
  readonly gaps: readonly CostGap[];
}

export interface CostGap {
  /** As 2026-11. */
  readonly month: string;
  readonly why: string;
  /** The key may not: asking again does not help before somebody has seen to it. */
  readonly denied: boolean;
  /** When what is shown of it was fetched; null: nothing of it is shown. */
  readonly from: Date | null;
}
