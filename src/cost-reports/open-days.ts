import type { Day } from '../base/time.ts';
import type { SnapshotHistory } from '../maths/days.ts';
import { openDayOf } from '../maths/days.ts';
import type { CostRow, Micro, OpenDay } from '../maths/rows.ts';

/** The rows of one fetched month. */
interface FetchedRows {
  readonly rows: readonly CostRow[];
  readonly fetchedAt: Date;
}

/**
 * The same rows; those of a day that is not final show whether the day is settled and how complete it
 * is. All of them count as not final, because the day can still get rows. Source: docs/costs.md#settled-days.
 */
export function withOpenDays(
  { rows, fetchedAt }: FetchedRows,
  history: SnapshotHistory,
): readonly CostRow[] {
  const open = openDays({ rows, fetchedAt }, history);
  if (open.size === 0) return rows;
  return rows.map((row) => {
    const openDay = open.get(row.day);
    return openDay ? { ...row, locked: false, openDay } : row;
  });
}

function openDays(
  { rows, fetchedAt }: FetchedRows,
  history: SnapshotHistory,
): ReadonlyMap<Day, OpenDay> {
  const totals = new Map<Day, Micro>();
  const open = new Set<Day>();
  for (const { day, total, locked } of rows) {
    totals.set(day, (totals.get(day) ?? 0) + total);
    if (!locked) open.add(day);
  }
  const openDay = (day: Day) => openDayOf({ day, total: totals.get(day) ?? 0, fetchedAt }, history);
  return new Map([...open].map((day) => [day, openDay(day)]));
}
