import type { ExpressionBuilder, Selectable } from 'kysely';
import type { JsonObject } from '../../../changes/change.ts';
import { type Batch, type Lease, leaseColumns } from '../../engine/lease.ts';
import { decode, JsonFields, toDate, toText } from '../../engine/portable.ts';
import { onPostgres } from '../../engine/postgres.ts';
import type { InboxTable, Tables, Tx } from '../schema.ts';

export interface ReceivedClick {
  readonly key: string;
  readonly kind: string;
  readonly body: JsonObject;
  readonly at: Date;
}

export interface ClaimedClick extends ReceivedClick {
  /** How often the click was claimed, this time included. */
  readonly attempts: number;
}

/** Returns false if the click was stored before: the process that stored it handles it. */
export async function storeClick(tx: Tx, { key, kind, body, at }: ReceivedClick): Promise<boolean> {
  const received = toText(at);
  const stored = await tx
    .insertInto('inbox')
    .values({
      dedup_key: key,
      kind,
      body: JSON.stringify(body),
      at: received,
      not_before: received,
      attempts: 0,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('dedup_key')
    .execute();
  return stored.length > 0;
}

/** Claims due clicks, oldest first. */
export async function claimDueClicks(tx: Tx, batch: Batch): Promise<ClaimedClick[]> {
  const due = await tx
    .selectFrom('inbox')
    .select('dedup_key')
    .where((eb) => isFree(eb, batch.now))
    .where('not_before', '<=', toText(batch.now))
    .orderBy('at')
    .orderBy('dedup_key')
    .limit(batch.limit)
    .$if(onPostgres(tx), (query) => query.forUpdate().skipLocked())
    .execute();
  return lease(
    tx,
    due.map((row) => row.dedup_key),
    batch,
  );
}

/** Claims one click; null if another process holds it or it was handled. */
export async function claimClick(tx: Tx, key: string, by: Lease): Promise<ClaimedClick | null> {
  const [claimed] = await lease(tx, [key], by);
  return claimed ?? null;
}

async function lease(tx: Tx, keys: string[], by: Lease): Promise<ClaimedClick[]> {
  if (keys.length === 0) return [];
  const rows = await tx
    .updateTable('inbox')
    .set((eb) => ({ ...leaseColumns(by), attempts: eb('attempts', '+', 1) }))
    .where('dedup_key', 'in', keys)
    .where((eb) => isFree(eb, by.now))
    .returningAll()
    .execute();
  return rows
    .sort((a, b) => compare(a.at, b.at) || compare(a.dedup_key, b.dedup_key))
    .map(claimedFrom);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function isFree(eb: ExpressionBuilder<Tables, 'inbox'>, now: Date) {
  return eb.and([
    eb('handled_at', 'is', null),
    eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', toText(now))]),
  ]);
}

function claimedFrom(row: Selectable<InboxTable>): ClaimedClick {
  return {
    key: row.dedup_key,
    kind: row.kind,
    body: decode(JsonFields, row.body ?? '{}', `inbox entry ${row.dedup_key}`),
    at: toDate(row.at),
    attempts: row.attempts,
  };
}

/** Keeps only the key, to recognize a redelivery; the body is deleted. */
export async function markHandled(tx: Tx, key: string, now: Date): Promise<void> {
  await tx
    .updateTable('inbox')
    .set({ handled_at: toText(now), body: null, lease_owner: null, lease_until: null })
    .where('dedup_key', '=', key)
    .execute();
}

export async function retryClickAt(tx: Tx, key: string, notBefore: Date): Promise<void> {
  await tx
    .updateTable('inbox')
    .set({ not_before: toText(notBefore), lease_owner: null, lease_until: null })
    .where('dedup_key', '=', key)
    .where('handled_at', 'is', null)
    .execute();
}

/** Deletes clicks that were handled before this time; returns how many. */
export async function pruneInbox(tx: Tx, before: Date): Promise<number> {
  const query = tx.deleteFrom('inbox').where('handled_at', '<', toText(before));
  return Number((await query.executeTakeFirst()).numDeletedRows);
}
