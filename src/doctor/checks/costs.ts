import { type TimedResult, withinTime } from '../../base/errors.ts';
import { addDays, dayOf } from '../../base/time.ts';
import {
  type DaySnapshot,
  LEARNED_DAYS,
  learnLockAge,
  lockAgeText,
  longestWait,
  snapshotHistory,
} from '../../maths/days.ts';
import type { DatabaseInspection } from '../../storage/engine/inspect-database.ts';
import { readCostSnapshots } from '../../storage/engine/inspect-database.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, countText, ok, skipped } from '../line.ts';

const NAME = 'cost days';

/** How late the days of the usage report become final, from the stored snapshots. */
export async function costDayLines(
  { config, now, withinMs }: CheckContext,
  examined: TimedResult<DatabaseInspection> | null,
): Promise<readonly CheckLine[]> {
  if (!examined?.ok || !examined.value.isReadable) {
    return [skipped(NAME, 'not checked: their snapshots are in the database')];
  }
  const first = addDays(dayOf(now()), -LEARNED_DAYS);
  const url = config.databaseUrl.reveal();
  const read = await withinTime(withinMs, () =>
    readCostSnapshots(url, config.organization.id, first),
  );
  return [read.ok ? lockAgeLine(read.value) : skipped(NAME, 'their snapshots could not be read')];
}

/** Source: docs/costs.md#lock-age. */
export function lockAgeLine(snapshots: readonly DaySnapshot[]): CheckLine {
  const age = learnLockAge(snapshotHistory(snapshots));
  const text = lockAgeText(age);
  if (age === null || text === null) {
    const says =
      'not known yet how late days become final: it takes 3 days that were seen to become final';
    return skipped(NAME, says);
  }
  const basis = countText(age.days, 'observed day');
  return ok(NAME, `${text}, from ${basis}; Signalbox waits for ${longestWait(age)} days`);
}
