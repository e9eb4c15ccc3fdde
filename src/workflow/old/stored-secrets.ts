import type { ChangeId, UserId } from '../../domain/change.ts';
import { toText } from '../../storage/old/portable.ts';
import type { Db, Tx } from '../../storage/old/schema.ts';

/** A sealed password; the clear text is never stored. */
interface SealedSecret {
  readonly changeId: ChangeId;
  readonly sealed: string;
  readonly requester: UserId;
  readonly expiresAt: Date;
}

export async function sealSecret(tx: Tx, secret: SealedSecret): Promise<void> {
  const { changeId, sealed, requester, expiresAt } = secret;
  await tx
    .insertInto('sealed_secret')
    .values({ change_id: changeId, sealed, requester, expires_at: toText(expiresAt) })
    .execute();
}

/** Returns the sealed text to its requester before it expires, else null. */
export async function openSecret(
  db: Db,
  changeId: ChangeId,
  { requester, now }: { requester: UserId; now: Date },
): Promise<string | null> {
  const row = await db
    .selectFrom('sealed_secret')
    .select('sealed')
    .where('change_id', '=', changeId)
    .where('requester', '=', requester)
    .where('expires_at', '>', toText(now))
    .executeTakeFirst();
  return row?.sealed ?? null;
}

/** Returns all sealed passwords. One that is deleted meanwhile stays deleted. */
export async function listSecrets(
  tx: Tx,
): Promise<readonly Pick<SealedSecret, 'changeId' | 'requester' | 'sealed'>[]> {
  const query = tx.selectFrom('sealed_secret').select(['change_id', 'requester', 'sealed']);
  const rows = await query.execute();
  return rows.map(({ change_id, ...row }) => ({ changeId: change_id, ...row }));
}

export async function replaceSealed(tx: Tx, changeId: ChangeId, sealed: string): Promise<void> {
  await tx.updateTable('sealed_secret').set({ sealed }).where('change_id', '=', changeId).execute();
}

/** Returns false if the secret is gone, so that of two concurrent reveals only one shows it. */
export async function dropSecret(tx: Tx, changeId: ChangeId): Promise<boolean> {
  const query = tx.deleteFrom('sealed_secret').where('change_id', '=', changeId);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

/** Deletes expired secrets that were never shown; returns how many. */
export async function dropExpiredSecrets(tx: Tx, now: Date): Promise<number> {
  const query = tx.deleteFrom('sealed_secret').where('expires_at', '<=', toText(now));
  return Number((await query.executeTakeFirst()).numDeletedRows);
}
