import { type ChangeId, FollowUp } from '../domain/change.ts';
import { reading, type Store, type StoreTx, sql } from '../storage/index.ts';

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

/** A report of the alert service, and the message that shows it. */
export interface StoredReport {
  readonly key: string;
  readonly card: string;
  readonly at: number;
  readonly openedAt: number;
  readonly report: string;
}

/** The newest report of an alert. */
export function lastReport(tx: StoreTx, key: string): Promise<StoredReport | undefined> {
  const rows = tx.selectFrom('alert_report').where('key', '=', key).orderBy('opened_at', 'desc');
  const columns = ['key', 'card', 'at', 'opened_at as openedAt', 'report'] as const;
  return rows.select(columns).executeTakeFirst();
}

/** The message about this scope that was planned last, since a time. */
export function openAlertCard(tx: StoreTx, scope: string, since: number) {
  const rows = tx.selectFrom('alert_report').where('scope', '=', scope).where('card', '!=', '');
  const open = rows.where('opened_at', '>', since).orderBy('opened_at', 'desc');
  return open.select(['card', 'opened_at as openedAt']).executeTakeFirst();
}

export async function saveReport(
  tx: StoreTx,
  scope: string,
  { key, card, at, openedAt, report }: StoredReport,
): Promise<void> {
  await tx
    .insertInto('alert_report')
    .values({ key, card, scope, opened_at: openedAt, at, report })
    .onConflict((conflict) => conflict.columns(['key', 'card']).doUpdateSet({ at, report }))
    .execute();
}

/** The reports that one message shows. */
export async function reportsOf(store: Store, card: string): Promise<readonly string[]> {
  const rows = await reading(store, (reader) =>
    reader.selectFrom('alert_report').select('report').where('card', '=', card).execute(),
  );
  return rows.map(({ report }) => report);
}

/** Deletes what was reported before. An alert that still fires is reported again. */
export async function dropReports(tx: StoreTx, before: number): Promise<void> {
  await tx.deleteFrom('alert_report').where('at', '<', before).execute();
}
