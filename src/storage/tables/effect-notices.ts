import type { ChangeId } from '../../changes/change.ts';
import { toText } from '../engine/portable.ts';
import type { Db, Tx } from './schema.ts';

interface EffectNotice {
  readonly changeId: ChangeId;
  /** The number of final days after the change that the notice covers. */
  readonly days: number;
  readonly at: Date;
}

/** Stores the permit to post a cost effect once per number of days. False: it exists already. */
export async function permitEffectNotice(
  tx: Tx,
  { changeId, days, at }: EffectNotice,
): Promise<boolean> {
  const inserted = await tx
    .insertInto('effect_notice')
    .values({ change_id: changeId, days, at: toText(at) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('days')
    .execute();
  return inserted.length > 0;
}

/** Returns the day counts that were handled since `since`, by change. */
export async function listEffectNotices(
  db: Db,
  since: Date,
): Promise<ReadonlyMap<ChangeId, readonly number[]>> {
  const rows = await db
    .selectFrom('effect_notice')
    .select(['change_id', 'days'])
    .where('at', '>=', toText(since))
    .execute();
  const byChange = Map.groupBy(rows, ({ change_id }) => change_id);
  return new Map([...byChange].map(([id, notices]) => [id, notices.map(({ days }) => days)]));
}
