import type { UserId } from '../../changes/change.ts';
import { toText } from '../engine/portable.ts';
import type { Tx } from './schema.ts';

export interface RateCount {
  readonly kind: string;
  /** When the while began in which they are counted. */
  readonly since: Date;
  /** Who, and how many more. */
  readonly more: ReadonlyMap<UserId, number>;
}

/** How many there are of each person now, these included, whichever replica counted the others. */
export async function addToRateCounters(
  tx: Tx,
  { kind, since, more }: RateCount,
): Promise<Map<UserId, number>> {
  if (more.size === 0) return new Map();
  // In one order everywhere, so that two replicas never wait for each other.
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
