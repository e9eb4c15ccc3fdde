/** The caches of costs: reports, snapshots and single values. */
import type { z } from 'zod';
import { dayOf, HOUR_MS } from '../base/time.ts';
import type { StoreReader, StoreTx } from '../storage/index.ts';

export interface StoredMonth<Report> {
  /** For example 2026-11. */
  readonly month: string;
  readonly fetchedAt: Date;
  /** All its days are final: Signalbox never reads the month again. */
  readonly final: boolean;
  readonly report: Report;
}

/** The key of a month or a day, because `organization.id` may change on the same database. */
function keyOf(date: string, organizationId: string): string {
  return `${date}/${organizationId}`;
}

/** `after`: only a copy that was fetched later; null for any copy. One that cannot be read is none. */
export async function loadMonth<Report>(
  reader: StoreReader,
  wanted: { readonly organizationId: string; readonly month: string; readonly after: Date | null },
  schema: z.ZodType<Report>,
): Promise<StoredMonth<Report> | null> {
  const { organizationId, month, after } = wanted;
  const query = reader
    .selectFrom('cost_month')
    .selectAll()
    .where('month', '=', keyOf(month, organizationId));
  const later = after === null ? query : query.where('fetched_at', '>', after.getTime());
  const row = await later.executeTakeFirst();
  const read = row ? schema.safeParse(JSON.parse(row.report)) : null;
  if (!row || !read?.success) return null;
  return { month, fetchedAt: new Date(row.fetched_at), final: row.final === 1, report: read.data };
}

/** Keeps a stored report that is newer, and one of a final month unless the new one is final. */
export async function storeMonth<Report>(
  tx: StoreTx,
  organizationId: string,
  stored: StoredMonth<Report>,
): Promise<void> {
  const row = {
    fetched_at: stored.fetchedAt.getTime(),
    final: stored.final ? (1 as const) : (0 as const),
    report: JSON.stringify(stored.report),
  };
  await tx
    .insertInto('cost_month')
    .values({ month: keyOf(stored.month, organizationId), ...row })
    .onConflict((conflict) =>
      conflict
        .column('month')
        .doUpdateSet(row)
        .where('cost_month.final', '<=', row.final)
        .where('cost_month.fetched_at', '<=', row.fetched_at),
    )
    .execute();
}

export interface CostSnapshot {
  readonly day: string;
  readonly fetchedAt: Date;
  /** Millionths of a credit. */
  readonly total: number;
  readonly final: boolean;
}

/** A day whose total changes with each report has at most one snapshot per hour. */
const LEAST_APART_MS = HOUR_MS;

/**
 * Stores a snapshot only if its day changed, so that the table shows when days become final. A change
 * of the total is stored with the first report that is at least one hour after the last snapshot.
 */
export async function recordSnapshots(
  tx: StoreTx,
  organizationId: string,
  seen: readonly CostSnapshot[],
): Promise<void> {
  const last = new Map(
    (await costSnapshots(tx, organizationId, seen[0]?.day ?? '9')).map((one) => [one.day, one]),
  );
  const rows = seen
    .filter(({ day, fetchedAt, total, final }) => {
      const previous = last.get(day);
      if (!previous || previous.final !== final) return true;
      const isLater = fetchedAt.getTime() - previous.fetchedAt.getTime() >= LEAST_APART_MS;
      return isLater && previous.total !== total;
    })
    .map(({ day, fetchedAt, total, final }) => ({
      day: keyOf(day, organizationId),
      fetched_at: fetchedAt.getTime(),
      total,
      final: final ? (1 as const) : (0 as const),
    }));
  if (rows.length === 0) return;
  const insert = tx.insertInto('cost_snapshot').values(rows);
  await insert.onConflict((conflict) => conflict.doNothing()).execute();
}

/** Returns all snapshots of the days from `fromDay` on, oldest first. */
export async function costSnapshots(
  reader: StoreReader,
  organizationId: string,
  fromDay: string,
): Promise<readonly CostSnapshot[]> {
  const rows = await reader
    .selectFrom('cost_snapshot')
    .selectAll()
    .where('day', '>=', fromDay)
    .where('day', 'like', keyOf('%', organizationId))
    .orderBy('day')
    .orderBy('fetched_at')
    .execute();
  return rows.map((row) => ({
    day: row.day.replace(keyOf('', organizationId), ''),
    fetchedAt: new Date(row.fetched_at),
    total: row.total,
    final: row.final === 1,
  }));
}

/** Deletes months and days from before a UTC day; returns how many rows. */
export async function pruneCosts(tx: StoreTx, before: Date): Promise<number> {
  const day = dayOf(before);
  // The month of that day has later days, and its texts are not below its own.
  const month = day.slice(0, 7);
  const results = [
    await tx.deleteFrom('cost_month').where('month', '<', month).executeTakeFirst(),
    await tx.deleteFrom('cost_snapshot').where('day', '<', day).executeTakeFirst(),
  ];
  return results.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0);
}

export async function readState(reader: StoreReader, key: string): Promise<string | null> {
  const query = reader.selectFrom('cost_state').select('value').where('key', '=', key);
  return (await query.executeTakeFirst())?.value ?? null;
}

export async function writeState(tx: StoreTx, key: string, value: string): Promise<void> {
  await tx
    .insertInto('cost_state')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}
