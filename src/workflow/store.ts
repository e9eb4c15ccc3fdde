import { type ChangeId, FollowUp } from '../domain/change.ts';
import {
  type AlertReportTable,
  reading,
  type Store,
  type StoreReader,
  type StoreTx,
  sql,
} from '../storage/index.ts';

// The tables of the workflow beside the log: what was read of targets, sealed passwords, and what the alert service
// reported. Nothing is decided from them.

/** What was read of the target of a change since the send; null if it is not followed. */
export async function readFollowUp(store: Store, id: ChangeId): Promise<FollowUp | null> {
  const row = await reading(store, (reader) =>
    reader.selectFrom('reading').select('shown').where('change_id', '=', id).executeTakeFirst(),
  );
  return row ? FollowUp.parse(JSON.parse(row.shown)) : null;
}

export async function saveFollowUp(tx: StoreTx, id: ChangeId, followUp: FollowUp): Promise<void> {
  await sql`insert into reading (change_id, shown) values (${id}, ${JSON.stringify(followUp)})
    on conflict (change_id) do update set shown = excluded.shown`.execute(tx);
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
  await sql`insert into sealed_secret (change_id, requester, sealed, expires_at)
    values (${id}, ${requester}, ${sealed}, ${expiresAt.getTime()})
    on conflict do nothing`.execute(tx);
}

/** The sealed text of a change until it expires; null afterwards. */
export async function findSealed(store: Store, id: ChangeId, now: Date): Promise<string | null> {
  const sealed = sql<{ sealed: string }>`select sealed from sealed_secret
    where change_id = ${id} and expires_at > ${now.getTime()}`;
  const { rows } = await reading(store, (reader) => sealed.execute(reader));
  return rows[0]?.sealed ?? null;
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

/** The reports of an alert, of a message, or of all messages about a scope; the newest message first. */
export function alertReports(reader: StoreReader, by: 'key' | 'card' | 'scope', value: string) {
  const rows = reader.selectFrom('alert_report').where(by, '=', value);
  return rows.orderBy('opened_at', 'desc').selectAll().execute();
}

export async function saveReport(tx: StoreTx, row: AlertReportTable): Promise<void> {
  const { at, report } = row;
  await tx
    .insertInto('alert_report')
    .values(row)
    .onConflict((conflict) => conflict.columns(['key', 'card']).doUpdateSet({ at, report }))
    .execute();
}

/** Deletes what was reported before. An alert that still fires is reported again. */
export async function dropReports(tx: StoreTx, before: number): Promise<void> {
  await tx.deleteFrom('alert_report').where('at', '<', before).execute();
}
