import type { Selectable } from 'kysely';
import type { ChangeId, JsonObject, UserId } from '../../changes/change.ts';
import { decode, JsonFields, toDate, toText } from '../engine/portable.ts';
import type { Db, FreezeTable, Tx } from './schema.ts';

export interface StoredFreeze {
  /** The id of the change that created the freeze. */
  readonly id: ChangeId;
  readonly scope: JsonObject;
  readonly reason: string;
  readonly createdBy: UserId;
  readonly from: Date;
  readonly until: Date;
}

/** Returns false if the change created its freeze before; the stored freeze is kept. */
export async function insertFreeze(tx: Tx, freeze: StoredFreeze): Promise<boolean> {
  const { id, scope, reason, createdBy, from, until } = freeze;
  const inserted = await tx
    .insertInto('change_freeze')
    .values({
      id,
      scope: JSON.stringify(scope),
      reason,
      made_by: createdBy,
      from_at: toText(from),
      until_at: toText(until),
      lifted_by: null,
      lifted_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/** Returns false if the freeze has ended or was lifted before. */
export async function liftFreeze(
  tx: Tx,
  { id, by, at }: { readonly id: ChangeId; readonly by: UserId; readonly at: Date },
): Promise<boolean> {
  const lifted = await tx
    .updateTable('change_freeze')
    .set({ lifted_by: by, lifted_at: toText(at) })
    .where('id', '=', id)
    .where('lifted_at', 'is', null)
    .where('until_at', '>', toText(at))
    .returning('id')
    .execute();
  return lifted.length > 0;
}

export async function hasFreeze(db: Db, id: ChangeId): Promise<boolean> {
  const query = db.selectFrom('change_freeze').select('id').where('id', '=', id);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Returns the freezes that were not lifted and have not ended, the first end first. */
export async function activeFreezes(db: Db, now: Date): Promise<StoredFreeze[]> {
  const rows = await db
    .selectFrom('change_freeze')
    .selectAll()
    .where('lifted_at', 'is', null)
    .where('until_at', '>', toText(now))
    .orderBy('until_at')
    .orderBy('id')
    .execute();
  return rows.map(freezeFrom);
}

function freezeFrom(row: Selectable<FreezeTable>): StoredFreeze {
  return {
    id: row.id,
    scope: decode(JsonFields, row.scope, `freeze ${row.id}`),
    reason: row.reason,
    createdBy: row.made_by,
    from: toDate(row.from_at),
    until: toDate(row.until_at),
  };
}
