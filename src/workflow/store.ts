import { type ChangeId, FollowUp } from '../domain/change.ts';
import { reading, type Store, type StoreTx, sql } from '../storage/index.ts';

// The tables of the workflow beside the log: what was read of targets, and sealed passwords. Nothing is decided from
// them.

/** What was read of the target of a change since the send; null if it is not followed. */
export async function readFollowUp(store: Store, id: ChangeId): Promise<FollowUp | null> {
  const row = await reading(store, (reader) =>
    reader.selectFrom('reading').select('shown').where('change_id', '=', id).executeTakeFirst(),
  );
  return row ? FollowUp.parse(JSON.parse(row.shown)) : null;
}

export async function saveFollowUp(tx: StoreTx, id: ChangeId, followUp: FollowUp): Promise<void> {
  const shown = JSON.stringify(followUp);
  await tx
    .insertInto('reading')
    .values({ change_id: id, shown })
    .onConflict((conflict) => conflict.column('change_id').doUpdateSet({ shown }))
    .execute();
}

/** Makes all jobs of a kind due now. */
export async function hurryJobs(tx: StoreTx, kind: string, now: Date): Promise<void> {
  await sql`update job set due_at = ${now.getTime()}, since = ${now.getTime()}
    where kind = ${kind} and due_at > ${now.getTime()}`.execute(tx);
}

/** A sealed password; the clear text is never stored. */
interface SealedSecret {
  readonly id: ChangeId;
  readonly requester: string;
  readonly sealed: string;
}

/** Storing it again has no effect. */
export async function saveSealed(
  tx: StoreTx,
  { id, requester, sealed }: SealedSecret,
  expiresAt: Date,
): Promise<void> {
  const row = { change_id: id, requester, sealed, expires_at: expiresAt.getTime() };
  await tx
    .insertInto('sealed_secret')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The sealed text of a change until it expires; null afterwards. */
export async function findSealed(store: Store, id: ChangeId, now: Date): Promise<string | null> {
  const row = await reading(store, (reader) =>
    reader
      .selectFrom('sealed_secret')
      .select('sealed')
      .where('change_id', '=', id)
      .where('expires_at', '>', now.getTime())
      .executeTakeFirst(),
  );
  return row?.sealed ?? null;
}

export async function listSealed(tx: StoreTx): Promise<readonly SealedSecret[]> {
  const rows = await tx
    .selectFrom('sealed_secret')
    .select(['change_id', 'requester', 'sealed'])
    .execute();
  // Only `saveSealed` writes the column.
  return rows.map(({ change_id, ...row }) => ({ id: change_id as ChangeId, ...row }));
}

export async function replaceSealed(tx: StoreTx, id: ChangeId, sealed: string): Promise<void> {
  await tx.updateTable('sealed_secret').set({ sealed }).where('change_id', '=', id).execute();
}

export async function dropSealed(tx: StoreTx, id: ChangeId): Promise<void> {
  await tx.deleteFrom('sealed_secret').where('change_id', '=', id).execute();
}

/** Deletes passwords that nobody opened in time. */
export async function dropExpiredSealed(tx: StoreTx, now: Date): Promise<void> {
  await tx.deleteFrom('sealed_secret').where('expires_at', '<=', now.getTime()).execute();
}
