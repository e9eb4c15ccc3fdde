import type { LockAge } from '../locking/lock-age.ts';
import type { PriceList } from '../money/price.ts';
import type { ReportProblem } from './report-problem.ts';
import type { CostRow } from './row.ts';

/** The costs of a span of days, and how complete they are. */
export interface CostReading {
  readonly rows: readonly CostRow[];
  /**
   * When the oldest part that can still change was fetched; if all months are final, when the last
   * of them was fetched; null without any part.
   */
  readonly fetchedAt: Date | null;
  /** Every month is final, so that none of them is fetched again. */
  readonly isFinal?: boolean;
  readonly problems: readonly ReportProblem[];
  /** The months that could not be read now. An older copy is used if there is one. */
  readonly gaps: readonly CostGap[];
  /** How old days are when they become final; null until the snapshots show it. */
  readonly lockAge: LockAge | null;
  /** The prices of a credit; null or absent without `costs.price`. */
  readonly prices?: PriceList | null;
}

export interface CostGap {
  /** As 2026-11. */
  readonly month: string;
  readonly why: string;
  /** The API key has no access: a retry does not help until an operator fixes it. */
  readonly denied: boolean;
  /** When the older copy was fetched; null without a copy. */
  readonly from: Date | null;
}

/**
 * The months without any copy, as 2026-11. A forecast is not possible then: a month without rows would
 * look like a month without costs.
 */
export function unreadMonths({ gaps }: Pick<CostReading, 'gaps'>): readonly string[] {
  return gaps.filter(({ from }) => from === null).map(({ month }) => month);
}
