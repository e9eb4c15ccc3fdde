import type { ChangeId } from '../../changes/change.ts';
import { toText } from '../engine/portable.ts';
import type { Db, Tx } from './schema.ts';

export interface EffectNotice {
  readonly changeId: ChangeId;
  /** How many days after the change it tells of. */
  readonly days: number;
  readonly at: Date;
}

/** The right to tell what a change did, once for each number of days. False: it was settled. */
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

/** For how many days each of these changes was settled; those without any are left out. */
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
  return new Map([...byChange].map(([id, own]) => [id, own.map(({ days }) => days)]));
}
