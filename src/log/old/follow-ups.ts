import type { ChangeId, FollowUp } from '../../domain/change.ts';
import { type Batch, leaseColumns } from '../../storage/old/lease.ts';
import { toText } from '../../storage/old/portable.ts';
import { onPostgres } from '../../storage/old/postgres.ts';
import type { Db, Tx } from '../../storage/old/schema.ts';
import { IS_OPEN } from './change-query.ts';

interface SentChanges {
  /** The commands whose targets can be read. */
  readonly commands: readonly string[];
  /** Accepted changes that ended earlier are not followed. */
  readonly endedSince: Date;
  readonly limit: number;
}

/** Changes that were sent and are not followed yet: recently accepted, or with an unknown outcome. */
export async function changesToFollow(
  db: Db,
  { commands, endedSince, limit }: SentChanges,
): Promise<readonly ChangeId[]> {
  const sent = db
    .selectFrom('change')
    .leftJoin('follow_up', 'follow_up.change_id', 'change.id')
    .select('change.id')
    .where('follow_up.change_id', 'is', null)
    .where('command', 'in', commands)
    .limit(limit);
  // Two queries, so that each uses its index.
  const [unknown, accepted] = await Promise.all([
    sent.where(IS_OPEN).where('state', '=', 'unknown').execute(),
    sent.where('ended_at', '>=', toText(endedSince)).where('state', '=', 'succeeded').execute(),
  ]);
  return [...unknown, ...accepted].map(({ id }) => id);
}

/** Returns false if another replica already follows the change. */
export async function insertFollowUp(
  tx: Tx,
  changeId: ChangeId,
  followUp: FollowUp,
  nextAt: Date,
): Promise<boolean> {
  const free = { lease_owner: null, lease_until: null };
  const inserted = await tx
    .insertInto('follow_up')
    .values({
      change_id: changeId,
      shown: JSON.stringify(followUp),
      next_at: toText(nextAt),
      ...free,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('change_id')
    .execute();
  return inserted.length > 0;
}

/** Claims due follow-ups, so that one replica reads each target. */
export async function claimDueFollowUps(tx: Tx, batch: Batch): Promise<readonly ChangeId[]> {
  const now = toText(batch.now);
  const due = await tx
    .selectFrom('follow_up')
    .select('change_id')
    .where('next_at', '<=', now)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', now)]))
    .orderBy('next_at')
    .limit(batch.limit)
    .$if(onPostgres(tx), (query) => query.forUpdate().skipLocked())
    .execute();
  const ids = due.map(({ change_id }) => change_id);
  if (ids.length === 0) return [];
  await tx
    .updateTable('follow_up')
    .set(leaseColumns(batch))
    .where('change_id', 'in', ids)
    .execute();
  return ids;
}

interface NextReading {
  readonly owner: string;
  /** Null: the target is not read again. */
  readonly nextAt: Date | null;
}

/** Stores a reading and gives the lease back. Returns false if another replica has the lease. */
export async function saveFollowUp(
  tx: Tx,
  changeId: ChangeId,
  followUp: FollowUp,
  { owner, nextAt }: NextReading,
): Promise<boolean> {
  const saved = await tx
    .updateTable('follow_up')
    .set({
      shown: JSON.stringify(followUp),
      next_at: toText(nextAt),
      lease_owner: null,
      lease_until: null,
    })
    .where('change_id', '=', changeId)
    .where('lease_owner', '=', owner)
    .returning('change_id')
    .execute();
  return saved.length > 0;
}
