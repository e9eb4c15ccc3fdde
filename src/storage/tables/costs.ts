import type { z } from 'zod';
import { decode, toDate, toText } from '../engine/portable.ts';
import type { Db, Tx } from './schema.ts';

export interface StoredMonth<Report> {
  /** As 2026-11. */
  readonly month: string;
  readonly fetchedAt: Date;
  /** All its days are over and locked: it is never asked for again. */
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

/** Never an older report over a newer one, nor anything over a month that is final. */
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

/** Only what differs from the last word on a day is written: how days grow and shrink is learnt. */
export async function recordSnapshots(tx: Tx, seen: readonly CostSnapshot[]): Promise<void> {
  const last = new Map((await costSnapshots(tx, seen[0]?.day ?? '9')).map((one) => [one.day, one]));
  const rows = seen
    .filter(({ day, total, final }) => {
      const before = last.get(day);
      return before?.total !== total || before.final !== final;
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

/** Every word on every day from one day on, oldest first. */
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
