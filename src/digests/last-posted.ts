import { z } from 'zod';
import type { DayState, RowSelector } from '../maths/days.ts';
import type { PostedDay } from '../maths/report.ts';
import type { Db, Tx } from '../storage/engine/database.ts';
import { dropMeta, readMeta, writeMeta } from '../storage/tables/meta.ts';

const StoredFigures = z.object({
  of: z.string(),
  days: z.array(z.object({ day: z.string(), total: z.number() })),
});

/** The daily totals that a digest posted last, and the selector that they belong to. */
export type LastPostedFigures = z.infer<typeof StoredFigures>;

/** Longer than days usually need to become final: a revision is shown when its day is final. */
const REMEMBERED_DAYS = 56;

export function toLastPosted(
  states: readonly DayState[],
  selector: RowSelector,
): LastPostedFigures {
  const known = states.filter(({ state }) => state !== 'no-data').slice(-REMEMBERED_DAYS);
  return { of: nameOf(selector), days: known.map(({ day, total }) => ({ day, total })) };
}

/** Empty if the digest covered other services then: that difference is not a revision. */
export function daysLastPosted(
  figures: LastPostedFigures | null,
  selector: RowSelector,
): readonly PostedDay[] {
  return figures?.of === nameOf(selector) ? figures.days : [];
}

function nameOf({ services, warehouses }: RowSelector): string {
  return JSON.stringify([services?.toSorted() ?? null, warehouses?.toSorted() ?? null]);
}

export async function storeLastPosted(
  tx: Tx,
  digest: string,
  figures: LastPostedFigures,
): Promise<void> {
  await writeMeta(tx, keyOf(digest), JSON.stringify(figures));
}

export async function readLastPosted(db: Db, digest: string): Promise<LastPostedFigures | null> {
  const text = await readMeta(db, keyOf(digest));
  return text === null ? null : StoredFigures.parse(JSON.parse(text));
}

export async function deleteLastPosted(tx: Tx, digest: string): Promise<void> {
  await dropMeta(tx, keyOf(digest));
}

function keyOf(digest: string): string {
  return `said:${digest}`;
}
