import { quantile } from '../forecast/robust.ts';
import type { Completion } from '../ledger/row.ts';
import { type DaySnapshot, HOUR_MS, lastFetch, type SnapshotHistory } from './day-snapshots.ts';

/** Two whole weeks. */
const LEAST_DAYS = 14;
/** The value of a day at an instant is known if a fetch was at most this long before. */
const FRESH_MS = 6 * HOUR_MS;

/**
 * c = median of v(age) / final, over all final days with snapshots: the same age since the start of
 * the day, to the minute. Null with fewer than 14 such days. Source: docs/costs.md#completion-factors.
 */
export function completionAt(history: SnapshotHistory, ageMs: number): Completion | null {
  const shares = [...history.byDay].flatMap(([day, all]) => {
    const last = all.at(-1);
    if (!last?.final || last.total <= 0) return [];
    const value = valueAt(all, Date.parse(`${day}T00:00:00Z`) + ageMs, history);
    return value === null ? [] : [value / last.total];
  });
  if (shares.length < LEAST_DAYS) return null;
  const [typical, high] = [quantile(shares, 0.5), quantile(shares, 0.9)];
  // With a share of 0, nothing can be said about the final total.
  return typical > 0 ? { typical, high, days: shares.length } : null;
}

function valueAt(
  all: readonly DaySnapshot[],
  instant: number,
  history: SnapshotHistory,
): number | null {
  const fetched = lastFetch(history, instant, true);
  if (fetched === null || instant - fetched > FRESH_MS) return null;
  return all.findLast(({ fetchedAt }) => fetchedAt.getTime() <= instant)?.total ?? null;
}
