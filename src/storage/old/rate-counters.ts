import type { Insertable, Selectable } from 'kysely';
import type { UserId } from '../../domain/change.ts';
import { compileEach } from './compile-once.ts';
import { toText } from './portable.ts';
import type { Tables, Tx } from './schema.ts';
import { keepRows, runTogether, type Statement } from './together.ts';

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
  count: RateCount,
): Promise<ReadonlyMap<UserId, number>> {
  if (count.more.size === 0) return new Map();
  const adding = addingToRateCounters(tx, count);
  await runTogether(tx, [adding]);
  return adding.counts();
}

interface CountStatement extends Statement<PersonCount> {
  /** What `addToRateCounters` returns. */
  readonly counts: () => ReadonlyMap<UserId, number>;
}

/** The statement of `addToRateCounters`, for at least one user. */
export function addingToRateCounters(tx: Tx, { kind, since, more }: RateCount): CountStatement {
  // All replicas lock the rows in the same order, which prevents deadlocks.
  const people = [...more].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const values = [kind, toText(since), ...people.flat()] as const;
  const read = keepRows(addCounts(tx, `${people.length}`, values));
  const counts = () => new Map(read.rows().map(({ person, count }) => [person, count]));
  return { ...read, counts };
}

type PersonCount = Pick<Selectable<Tables['tally']>, 'person' | 'count'>;

/** `counts`: each user, and what to add to the user's count. */
type CountValues = readonly [kind: string, since: string, ...counts: (UserId | number)[]];

const addCounts = compileEach((tx, users, [kind, since, ...counts]: CountValues) => {
  const rows = Array.from({ length: Number(users) }, (_, row) => ({
    ...{ person: counts[2 * row], kind, since, count: counts[2 * row + 1] },
  }));
  return (
    tx
      .insertInto('tally')
      // Each pair has these types.
      .values(rows as Insertable<Tables['tally']>[])
      .onConflict((conflict) =>
        conflict
          .columns(['person', 'kind', 'since'])
          .doUpdateSet((eb) => ({ count: eb('tally.count', '+', eb.ref('excluded.count')) })),
      )
      .returning(['person', 'count'])
  );
});

/** Takes back a part of what was added to the count of a user. A count stays above 0. */
export async function subtractFromRateCounter(
  tx: Tx,
  {
    kind,
    since,
    user,
    less,
  }: Omit<RateCount, 'more'> & { readonly user: UserId; readonly less: number },
): Promise<void> {
  await tx
    .updateTable('tally')
    .set((eb) => ({ count: eb('count', '-', less) }))
    .where('count', '>', less)
    .where('person', '=', user)
    .where('kind', '=', kind)
    .where('since', '=', toText(since))
    .execute();
}

export async function pruneRateCounters(tx: Tx, before: Date): Promise<void> {
  await tx.deleteFrom('tally').where('since', '<', toText(before)).execute();
}
