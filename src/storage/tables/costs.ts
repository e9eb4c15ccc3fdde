import type { z } from 'zod';
import { decode, toDate, toText } from '../engine/portable.ts';
import type { Db, Tx } from './schema.ts';

export interface StoredMonth<Report> {
  /** For example 2026-11. */
  readonly month: string;
  readonly fetchedAt: Date;
  /** All its days are final: Signalbox never reads the month again. */
  readonly final: boolean;
  readonly report: Report;
}

export async function loadMonth<Report>(
  db: Db,
  month: string,
  schema: z.ZodType<Report>,
): Promise<StoredMonth<Report> | null> {
  const query = db.selectFrom('cost_month').selectAll().where('month', '=', month);
  const row = await query.executeTakeFirst();
  if (!row) return null;
  const report = decode(schema, row.report, `the costs of ${month}`);
  return { month, fetchedAt: toDate(row.fetched_at), final: row.final === 1, report };
}

/** Keeps a stored report that is newer, and one of a final month. */
export async function storeMonth<Report>(tx: Tx, stored: StoredMonth<Report>): Promise<void> {
  const row = {
    fetched_at: toText(stored.fetchedAt),
    final: stored.final ? (1 as const) : (0 as const),
    report: JSON.stringify(stored.report),
  };
  await tx
    .insertInto('cost_month')
    .values({ month: stored.month, ...row })
    .onConflict((conflict) =>
      conflict
        .column('month')
        .doUpdateSet(row)
        .where('cost_month.final', '=', 0)
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

/** Stores a snapshot only if its day changed, so that the table shows when days become final. */
export async function recordSnapshots(tx: Tx, seen: readonly CostSnapshot[]): Promise<void> {
  const last = new Map((await costSnapshots(tx, seen[0]?.day ?? '9')).map((one) => [one.day, one]));
  const rows = seen
    .filter(({ day, total, final }) => {
      const previous = last.get(day);
      return previous?.total !== total || previous.final !== final;
    })
    .map(({ day, fetchedAt, total, final }) => ({
      day,
      fetched_at: toText(fetchedAt),
      total: String(total),
      final: final ? (1 as const) : (0 as const),
    }));
  if (rows.length === 0) return;
  const insert = tx.insertInto('cost_snapshot').values(rows);
  await insert.onConflict((conflict) => conflict.doNothing()).execute();
}

/** Returns all snapshots of the days from `fromDay` on, oldest first. */
export async function costSnapshots(db: Db, fromDay: string): Promise<readonly CostSnapshot[]> {
  const rows = await db
    .selectFrom('cost_snapshot')
    .selectAll()
    .where('day', '>=', fromDay)
    .orderBy('day')
    .orderBy('fetched_at')
    .execute();
  return rows.map((row) => ({
    day: row.day,
    fetchedAt: toDate(row.fetched_at),
    total: Number(row.total),
    final: row.final === 1,
  }));
}
