import { sql } from 'kysely';
import { z } from 'zod';
import { withTimeout } from '../../base/errors.ts';
import type { Database } from './database.ts';
import { listInstances } from './instances.ts';
import { writeMeta } from './meta.ts';
import { decode } from './portable.ts';
import type { Tx } from './schema.ts';

/**
 * How many requests may start within `perMs` milliseconds, how many of them may be reads, and how
 * many optional reads.
 */
interface StartWindow {
  readonly priority: string;
  readonly requests: number;
  readonly reads: number;
  readonly optional: number;
  readonly perMs: number;
}

// Earlier releases do not write `isOptional`.
const Starts = z.array(
  z.object({ at: z.number(), isWrite: z.boolean(), isOptional: z.boolean().default(false) }),
);
const CLAIM_WITHIN_MS = 1_000;

/**
 * The budget of one API key, which all replicas share as a row. `claim` records a start by the clock
 * of the database and returns 0, or returns the milliseconds until the next one may start; it
 * rejects after `withinMs` if the database cannot be reached. `replicas` is the last known number.
 */
export function openRequestBudget(
  database: Pick<Database, 'transaction'>,
  api: string,
  withinMs = CLAIM_WITHIN_MS,
) {
  let replicas = 1;

  async function claimIn(tx: Tx, { priority, requests, reads, optional, perMs }: StartWindow) {
    const isWrite = priority === 'write';
    const isOptional = priority === 'optional';
    const { starts, now } = await lockStarts(tx, `budget/${api}`);
    replicas = Math.max(1, (await listInstances(tx)).length);
    const within = starts.filter(({ at }) => at > now - perMs);
    const ofReads = within.filter((start) => !start.isWrite);
    const ofOptional = within.filter((start) => start.isOptional);
    const last = [
      within.at(-requests),
      isWrite ? undefined : ofReads.at(-reads),
      isOptional ? ofOptional.at(-optional) : undefined,
    ];
    const free = Math.max(now, ...last.map((start) => (start ? start.at + perMs : now)));
    if (free > now) return free - now;
    await writeMeta(
      tx,
      `budget/${api}`,
      JSON.stringify([...within, { at: now, isWrite, isOptional }]),
    );
    return 0;
  }

  return {
    claim: (window: StartWindow): Promise<number> =>
      withTimeout(
        withinMs,
        database.transaction((tx) => claimIn(tx, window)),
      ),
    replicas: () => replicas,
  };
}

/** Locks the row until the end of the transaction; the time is read after the lock was obtained. */
async function lockStarts(tx: Tx, key: string) {
  const { value } = await tx
    .insertInto('meta')
    .values({ key, value: '[]' })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => ({ value: eb.ref('meta.value') })),
    )
    .returning('value')
    .executeTakeFirstOrThrow();
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(tx);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL returned no time');
  return { starts: decode(Starts, value, key), now: row.now.getTime() };
}
