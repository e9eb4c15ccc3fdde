import { z } from 'zod';
import { withTimeout } from '../base/errors.ts';
import { nextStart, PRIORITIES, type SharedBudget, type StartWindow } from '../base/http-limits.ts';
import { type Store, type StoreReader, type StoreTx, transaction } from './database.ts';

// What all replicas share so that their limits hold together: counters of users, the budget of an API key, and which
// processes run.

interface RateCount {
  readonly kind: string;
  /** The start of the time window. */
  readonly since: Date;
  /** What to add to the count of each user. */
  readonly more: ReadonlyMap<string, number>;
}

/** Returns the new count of each user. */
export async function addToRateCounters(
  tx: StoreTx,
  { kind, since, more }: RateCount,
): Promise<ReadonlyMap<string, number>> {
  if (more.size === 0) return new Map();
  // All replicas lock the rows in the same order, which prevents deadlocks.
  const people = [...more].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rows = await tx
    .insertInto('rate_counter')
    .values(people.map(([person, count]) => ({ person, kind, since: since.getTime(), count })))
    .onConflict((conflict) =>
      conflict
        .columns(['person', 'kind', 'since'])
        .doUpdateSet((eb) => ({ count: eb('rate_counter.count', '+', eb.ref('excluded.count')) })),
    )
    .returning(['person', 'count'])
    .execute();
  return new Map(rows.map(({ person, count }) => [person, count]));
}

/** Takes back a part of what was added to the count of a user. A count stays above 0. */
export async function subtractFromRateCounter(
  tx: StoreTx,
  {
    kind,
    since,
    user,
    less,
  }: Omit<RateCount, 'more'> & { readonly user: string; readonly less: number },
): Promise<void> {
  await tx
    .updateTable('rate_counter')
    .set((eb) => ({ count: eb('count', '-', less) }))
    .where('count', '>', less)
    .where('person', '=', user)
    .where('kind', '=', kind)
    .where('since', '=', since.getTime())
    .execute();
}

export async function pruneRateCounters(tx: StoreTx, before: Date): Promise<void> {
  await tx.deleteFrom('rate_counter').where('since', '<', before.getTime()).execute();
}

/** A running process of Signalbox. */
export interface Instance {
  readonly id: string;
  readonly release: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
}

/** Stores the row of this process, and removes those of processes that were not seen since `goneBefore`. */
export async function saveInstance(
  tx: StoreTx,
  { id, release, startedAt, seenAt }: Instance,
  goneBefore: Date,
): Promise<void> {
  const row = { release, seen_at: seenAt.getTime() };
  await tx
    .insertInto('instance')
    .values({ id, started_at: startedAt.getTime(), ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
  await tx.deleteFrom('instance').where('seen_at', '<', goneBefore.getTime()).execute();
}

export async function dropInstance(tx: StoreTx, id: string): Promise<void> {
  await tx.deleteFrom('instance').where('id', '=', id).execute();
}

/** Returns all processes, the oldest first. */
export async function listInstances(reader: StoreReader): Promise<readonly Instance[]> {
  const rows = await reader.selectFrom('instance').selectAll().orderBy('started_at').execute();
  return rows.map(({ id, release, started_at, seen_at }) => ({
    ...{ id, release },
    startedAt: new Date(started_at),
    seenAt: new Date(seen_at),
  }));
}

const Starts = z.array(z.object({ at: z.number(), priority: z.enum(PRIORITIES) }));
const CLAIM_WITHIN_MS = 1_000;

/**
 * The budget of one API key, which all replicas share as a row, by the clock of the database. It rejects after
 * `withinMs` if the database cannot be reached.
 */
export function openRequestBudget(
  store: Store,
  api: string,
  withinMs = CLAIM_WITHIN_MS,
): SharedBudget {
  const claimIn = async (tx: StoreTx, window: StartWindow) => {
    const starts = await lockStarts(tx, api);
    // Read after the lock was obtained, which may have taken a while.
    const now = await store.clock(tx);
    const at = nextStart(starts, window, now);
    if (at > now) return at - now;
    const within = starts.filter((start) => start.at > now - window.perMs);
    const next = JSON.stringify([...within, { at: now, priority: window.priority }]);
    await tx.updateTable('request_budget').set({ starts: next }).where('api', '=', api).execute();
    return 0;
  };
  return (window) =>
    withTimeout(
      withinMs,
      transaction(store, (tx) => claimIn(tx, window)),
    );
}

/** Locks the row until the end of the transaction. An unreadable one begins again. */
async function lockStarts(tx: StoreTx, api: string) {
  const { starts } = await tx
    .insertInto('request_budget')
    .values({ api, starts: '[]' })
    .onConflict((conflict) =>
      conflict.column('api').doUpdateSet((eb) => ({ starts: eb.ref('request_budget.starts') })),
    )
    .returning('starts')
    .executeTakeFirstOrThrow();
  return Starts.catch([]).parse(JSON.parse(starts));
}
