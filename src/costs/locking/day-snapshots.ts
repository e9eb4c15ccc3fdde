import { type Day, dayNumber } from '../../base/time.ts';
import type { Micro } from '../ledger/row.ts';

/** The total of one UTC day in one fetched report; stored only when it differs from the one before. */
export interface DaySnapshot {
  readonly day: Day;
  readonly fetchedAt: Date;
  readonly total: Micro;
  /** All rows of the day were locked. */
  readonly final: boolean;
}

/** The snapshots of each day, oldest first, and the times of all fetches. */
export interface SnapshotHistory {
  readonly byDay: ReadonlyMap<Day, readonly DaySnapshot[]>;
  /** In milliseconds, sorted. Today's total changes often, so most fetches leave a snapshot. */
  readonly fetches: readonly number[];
}

export const NO_SNAPSHOTS: SnapshotHistory = { byDay: new Map(), fetches: [] };

/** Snapshots of learned figures begin this many days ago: eight weeks of days, and their locking. */
export const LEARNED_DAYS = 84;

export function snapshotHistory(snapshots: readonly DaySnapshot[]): SnapshotHistory {
  const sorted = snapshots.toSorted((a, b) => a.fetchedAt.getTime() - b.fetchedAt.getTime());
  return {
    byDay: Map.groupBy(sorted, ({ day }) => day),
    fetches: [...new Set(sorted.map(({ fetchedAt }) => fetchedAt.getTime()))],
  };
}

/** The last fetch before the instant, or also at it; null without any. In milliseconds. */
export function lastFetch({ fetches }: SnapshotHistory, until: number, isIncluded: boolean) {
  let [low, high] = [0, fetches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = fetches[middle] ?? 0;
    if (at < until || (isIncluded && at === until)) low = middle + 1;
    else high = middle;
  }
  return fetches[low - 1] ?? null;
}

/** Whole UTC days from the day to the instant: 1 on the following day. */
export function ageAt(day: Day, instant: number): number {
  return Math.floor(instant / DAY_MS) - dayNumber(day);
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
