import { HOUR_MS } from '../../base/time.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { readEventBody } from './chain.ts';

/** Clocks of replicas differ: the times of events may be out of order by this much. */
const SKEW_MS = HOUR_MS;

export interface TimeRange {
  readonly since: Date;
  readonly until: Date;
}

/**
 * Yields the events of a time range in order, one batch in memory at a time. A binary search finds
 * the first one, because a trail can have millions of events.
 */
export async function* eventRowsWithin(
  db: Db,
  { since, until }: TimeRange,
  batch = 1_000,
): AsyncGenerator<AuditEventTable & { readonly at: Date }> {
  let after = (await firstSeqSince(db, new Date(since.getTime() - SKEW_MS))) - 1;
  const end = until.getTime() + SKEW_MS;
  for (;;) {
    const rows = await select(db, after, batch);
    for (const row of rows) {
      const { at } = readEventBody(row);
      if (at.getTime() >= end) return;
      if (at >= since && at < until) yield { ...row, at };
      after = row.seq;
    }
    if (rows.length < batch) return;
  }
}

/** Returns the number of the first event at or after a time; one past the end if there is none. */
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
