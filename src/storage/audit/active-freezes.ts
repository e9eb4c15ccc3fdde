import { activeFreezes, type StoredFreeze } from '../tables/freezes.ts';
import type { Db } from '../tables/schema.ts';
import { recordedFreezes } from './freeze-events.ts';
import type { AuditKey } from './key-ring.ts';

/**
 * Returns the freezes that were not lifted and have not ended, the first end first. The audit trail
 * decides, so that a freeze whose row was deleted or changed still counts. The row decides on a
 * freeze of an earlier release, which recorded no such event.
 */
export async function effectiveFreezes(
  db: Db,
  key: AuditKey,
  now: Date,
): Promise<readonly StoredFreeze[]> {
  const [recorded, rows] = [await recordedFreezes(db, key), await activeFreezes(db, now)];
  const active = [...recorded.values()].filter(
    ({ freeze, lifted }) => !lifted && freeze.until > now,
  );
  const all = [
    ...active.map(({ freeze }) => freeze),
    ...rows.filter(({ id }) => !recorded.has(id)),
  ];
  return all.toSorted((a, b) => a.until.getTime() - b.until.getTime() || (a.id < b.id ? -1 : 1));
}
