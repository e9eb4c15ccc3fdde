import type { UserId } from '../../../changes/change.ts';
import { toText } from '../../engine/portable.ts';
import type { Tx } from '../schema.ts';

interface RateCount {
  readonly kind: string;
  /** The start of the time window. */
  readonly since: Date;
  /** What to add to the count of each user. */
  readonly more: ReadonlyMap<UserId, number>;
}

/** Returns the new count of each user, which all replicas share. */
export async function addToRateCounters(
  tx: Tx,
  { kind, since, more }: RateCount,
): Promise<Map<UserId, number>> {
  if (more.size === 0) return new Map();
  // All replicas lock the rows in the same order, which prevents deadlocks.
  const people = [...more].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rows = await tx
    .insertInto('tally')
    .values(people.map(([person, count]) => ({ person, kind, since: toText(since), count })))
    .onConflict((conflict) =>
      conflict
        .columns(['person', 'kind', 'since'])
        .doUpdateSet((eb) => ({ count: eb('tally.count', '+', eb.ref('excluded.count')) })),
    )
    .returning(['person', 'count'])
    .execute();
  return new Map(rows.map(({ person, count }) => [person, count]));
}

export async function pruneRateCounters(tx: Tx, before: Date): Promise<void> {
  await tx.deleteFrom('tally').where('since', '<', toText(before)).execute();
}
