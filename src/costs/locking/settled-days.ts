import type { Day } from '../../base/time.ts';
import type { Micro, OpenDay } from '../ledger/row.ts';
import { completionAt } from './completion.ts';
import { ageAt, DAY_MS, type SnapshotHistory, snapshotHistory } from './day-snapshots.ts';

/** A day in a fetched report. */
interface ReportedDay {
  readonly day: Day;
  readonly total: Micro;
  readonly fetchedAt: Date;
}

/** A day that was first fetched at a greater age counts as settled until it moves. */
const NEW_DAYS = 3;
const UNMOVED_DAYS = 2;
/** A settled day is recent up to this age: its figures moved for three days, then not for two. */
export const FRESH_DAYS = NEW_DAYS + UNMOVED_DAYS;
/** The rounding of the report. */
const ROUNDING: Micro = 5_000;

/** Whether an open day is settled, and else how complete it is. Source: docs/costs.md#settled-days. */
export function openDayOf(reported: ReportedDay, history: SnapshotHistory): OpenDay {
  const settled = isUnmoved(reported, history);
  const ageMs = reported.fetchedAt.getTime() - startMs(reported.day);
  return { settled, completion: settled ? null : completionAt(history, ageMs) };
}

/**
 * Whether the total has not moved for two days since the end of the day. A day that was first
 * fetched when it was older than three days, and has not moved since, counts as well: on a new
 * installation there is no earlier snapshot.
 */
function isUnmoved({ day, total, fetchedAt }: ReportedDay, { byDay }: SnapshotHistory): boolean {
  const all = byDay.get(day) ?? [];
  const now = fetchedAt.getTime();
  const moved = all.findLastIndex((one) => Math.abs(one.total - total) > ROUNDING);
  const since = all[moved + 1]?.fetchedAt.getTime() ?? now;
  if (moved < 0 && ageAt(day, since) > NEW_DAYS) return true;
  return now - Math.max(since, startMs(day) + DAY_MS) >= UNMOVED_DAYS * DAY_MS;
}

function startMs(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** The last day that was final or settled at the instant; null without any. */
export function lastSettledAt({ byDay }: SnapshotHistory, at: Date): Day | null {
  const known = snapshotHistory([...byDay.values()].flat().filter((one) => one.fetchedAt <= at));
  const settled = [...known.byDay].flatMap(([day, all]) => {
    const last = all.at(-1);
    const isKnown = last?.final || (last && isUnmoved({ ...last, fetchedAt: at }, known));
    return isKnown ? [day] : [];
  });
  return settled.sort().at(-1) ?? null;
}
