import { z } from 'zod';
import type { DayState, RowSelector } from '../costs/ledger/ledger.ts';
import type { PostedDay } from '../costs/ledger/revision.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { dropMeta, readMeta, writeMeta } from '../storage/tables/meta.ts';

const Stored = z.object({
  of: z.string(),
  days: z.array(z.object({ day: z.string(), total: z.number() })),
});

/** What the figures of a digest were when it was posted last, and what they were figures of. */
export type LastPosted = z.infer<typeof Stored>;

const REMEMBERED_DAYS = 21;

export function saidOf(states: readonly DayState[], selector: RowSelector): LastPosted {
  const known = states.filter(({ state }) => state !== 'no-data').slice(-REMEMBERED_DAYS);
  return { of: nameOf(selector), days: known.map(({ day, total }) => ({ day, total })) };
}

/** Nothing where the digest covers other services now: that is no revision of the report. */
export function postedOf(said: LastPosted | null, selector: RowSelector): readonly PostedDay[] {
  return said?.of === nameOf(selector) ? said.days : [];
}

function nameOf({ services, warehouses }: RowSelector): string {
  return JSON.stringify([services?.toSorted() ?? null, warehouses?.toSorted() ?? null]);
}

export async function storeSaid(tx: Tx, digest: string, said: LastPosted): Promise<void> {
  await writeMeta(tx, keyOf(digest), JSON.stringify(said));
}

export async function readSaid(db: Db, digest: string): Promise<LastPosted | null> {
  const text = await readMeta(db, keyOf(digest));
  return text === null ? null : Stored.parse(JSON.parse(text));
}

export async function forgetSaid(tx: Tx, digest: string): Promise<void> {
  await dropMeta(tx, keyOf(digest));
}

function keyOf(digest: string): string {
  return `said:${digest}`;
}
