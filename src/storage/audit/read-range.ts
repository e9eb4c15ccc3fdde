import type { AuditEventTable, Db } from '../tables/schema.ts';
import { readEventBody } from './chain.ts';

/** Replicas have clocks of their own: events may stand so far out of the order of their times. */
const SKEW_MS = 3_600_000;

export interface TimeRange {
  readonly since: Date;
  readonly until: Date;
}

/**
 * Events of a span of time in their order, a batch in memory at a time. The first is searched for
 * by halves, since a trail of a million events is not read to tell the last day.
 */
export async function* eventRowsWithin(
  db: Db,
  { since, until }: TimeRange,
  batch = 1_000,
): AsyncGenerator<AuditEventTable & { readonly at: Date }> {
  let after = (await firstSeqSince(db, new Date(since.getTime() - SKEW_MS))) - 1;
  const late = until.getTime() + SKEW_MS;
  for (;;) {
    const rows = await select(db, after, batch);
    for (const row of rows) {
      const { at } = readEventBody(row);
      if (at.getTime() >= late) return;
      if (at >= since && at < until) yield { ...row, at };
      after = row.seq;
    }
    if (rows.length < batch) return;
  }
}

/** The number of the first event at or after an instant; one past the end where there is none. */
export async function firstSeqSince(db: Db, instant: Date): Promise<number> {
  const { seq } = await db.selectFrom('audit_head').select('seq').executeTakeFirstOrThrow();
  let [low, high] = [1, seq + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await select(db, middle - 1, 1);
    if (!row || readEventBody(row).at >= instant) high = middle;
    else low = middle + 1;
  }
  return low;
}

function select(db: Db, after: number, limit: number): Promise<AuditEventTable[]> {
  return db
    .selectFrom('audit_event')
    .selectAll()
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}
