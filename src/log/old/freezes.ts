import type { Selectable } from 'kysely';
import type { JsonObject } from '../../base/text.ts';
import type { ChangeId, UserId } from '../../domain/change.ts';
import { JsonFields, toDate, toText } from '../../storage/old/portable.ts';
import type { Db, FreezeTable, Tx } from '../../storage/old/schema.ts';

export interface StoredFreeze {
  /** The id of the change that created the freeze. */
  readonly id: ChangeId;
  /** Empty for a row that cannot be read: such a freeze covers everything. */
  readonly scope: JsonObject;
  readonly reason: string;
  readonly createdBy: UserId;
  readonly from: Date;
  readonly until: Date;
}

/** Returns false if the change created its freeze before; the stored freeze is kept. */
export async function insertFreeze(tx: Tx, freeze: StoredFreeze): Promise<boolean> {
  const inserted = await tx
    .insertInto('change_freeze')
    .values(rowOf(freeze))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/** Stores a freeze that was not lifted, in place of its row if there is one. */
export async function replaceFreeze(tx: Tx, freeze: StoredFreeze): Promise<void> {
  await tx.deleteFrom('change_freeze').where('id', '=', freeze.id).execute();
  await tx.insertInto('change_freeze').values(rowOf(freeze)).execute();
}

function rowOf({ id, scope, reason, createdBy, from, until }: StoredFreeze): FreezeTable {
  return {
    id,
    scope: JSON.stringify(scope),
    reason,
    made_by: createdBy,
    from_at: toText(from),
    until_at: toText(until),
    lifted_by: null,
    lifted_at: null,
  };
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
  const rows = await selectActiveFreezes(db, toText(now))
    .orderBy('until_at')
    .orderBy('id')
    .execute();
  return rows.map(freezeFrom);
}

export function selectActiveFreezes(db: Db, now: string) {
  return db
    .selectFrom('change_freeze')
    .selectAll()
    .where('lifted_at', 'is', null)
    .where('until_at', '>', now);
}

const LATEST = '9999-12-31T23:59:59.999Z';

export function freezeFrom(row: Selectable<FreezeTable>): StoredFreeze {
  const [from, until] = [toDate(row.from_at), toDate(row.until_at)];
  const [hasFrom, hasUntil] = [from, until].map((time) => !Number.isNaN(time.getTime()));
  const scope = readScope(row.scope);
  return {
    id: row.id,
    scope: scope && hasFrom && hasUntil ? scope : {},
    reason: row.reason,
    createdBy: row.made_by,
    // A time that cannot be read must not end the freeze.
    from: hasFrom ? from : new Date(0),
    until: hasUntil ? until : new Date(LATEST),
  };
}

function readScope(text: string): JsonObject | null {
  try {
    return JsonFields.parse(JSON.parse(text));
  } catch {
    // The freeze covers everything, and the hourly check reports it.
    return null;
  }
}
