import type { Database } from '../../storage/old/database.ts';
import { acceptedGaps } from './accepted-gaps.ts';
import { type ArchiveCheckpoint, KEPT_KINDS } from './checkpoints.ts';
import type { AuditKey } from './key-ring.ts';
import { deleteChanges, nextEnded } from './prune-changes.ts';

const BATCH = 1_000;

export interface Deleted {
  readonly events: number;
  readonly changes: number;
}

/**
 * Deletes what a checkpoint covers, in short transactions: first the changes, then the events in their
 * order. A repeated call continues after a crash.
 */
export async function pruneArchived(
  database: Pick<Database, 'db' | 'transaction'>,
  keys: AuditKey,
  checkpoint: ArchiveCheckpoint,
): Promise<Deleted> {
  let changes = 0;
  for (let page = await nextEnded(database.db, checkpoint, null); page; ) {
    const { ids, cursor } = page;
    if (ids.length > 0) await database.transaction((tx) => deleteChanges(tx, ids));
    changes += ids.length;
    page = await nextEnded(database.db, checkpoint, cursor);
  }
  return { changes, events: await pruneEvents(database, keys, checkpoint.last) };
}

async function pruneEvents(
  { db, transaction }: Pick<Database, 'db' | 'transaction'>,
  keys: AuditKey,
  last: number,
): Promise<number> {
  const gaps = await acceptedGaps(db, keys);
  let deleted = 0;
  for (;;) {
    const rows = await db
      .selectFrom('audit_event')
      .select('seq')
      .where('seq', '<=', last)
      .where('kind', 'not in', KEPT_KINDS)
      .orderBy('seq')
      .limit(BATCH)
      .execute();
    const end = rows.at(-1)?.seq;
    if (end === undefined) return deleted;
    // What stays must be a chain, so that it does not begin inside a gap.
    const gap = gaps.find(
      ({ gap: { first, next } }) => (first === 1 || first <= end) && end < next,
    );
    const until = gap ? Math.min(gap.gap.next - 1, last) : end;
    deleted += await transaction(async (tx) => {
      const query = tx.deleteFrom('audit_event').where('seq', '<=', until);
      const result = await query.where('kind', 'not in', KEPT_KINDS).executeTakeFirst();
      return Number(result.numDeletedRows);
    });
  }
}
