import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { ChangeId, JsonObject } from '../../../changes/change.ts';
import { type Batch, leaseColumns } from '../../engine/lease.ts';
import { decode, JsonFields, toText } from '../../engine/portable.ts';
import { onPostgres } from '../../engine/postgres.ts';
import type { OutboxTable, Tables, Tx } from '../schema.ts';

export interface OutboxMessage {
  readonly changeId?: ChangeId;
  readonly kind: string;
  /** Without a body it is a draw: the message is made of the change as it is when it is sent. */
  readonly body?: JsonObject;
  readonly at: Date;
}

export interface DueMessage {
  readonly id: number;
  readonly changeId: ChangeId | null;
  readonly kind: string;
  readonly body: JsonObject | null;
  /** How often it was taken, this time included. */
  readonly attempts: number;
}

/** A draw that waits already stands for this one too; the earlier of both instants holds. */
export async function enqueue(tx: Tx, { changeId, kind, body, at }: OutboxMessage): Promise<void> {
  const insert = tx.insertInto('outbox').values({
    change_id: changeId ?? null,
    kind,
    body: body ? JSON.stringify(body) : null,
    not_before: toText(at),
    attempts: 0,
  });
  await insert
    .onConflict((conflict) =>
      conflict
        .columns(['change_id', 'kind'])
        .where('done_at', 'is', null)
        .where('lease_owner', 'is', null)
        .where('body', 'is', null)
        .doUpdateSet({
          not_before: sql`case when excluded.not_before < outbox.not_before
            then excluded.not_before else outbox.not_before end`,
        }),
    )
    .execute();
}

/**
 * The oldest first. A draw that is under way keeps later draws of the same change and kind back,
 * so that an older picture can never be sent after a newer one.
 */
export async function claimDueMessages(tx: Tx, batch: Batch): Promise<DueMessage[]> {
  const due = await tx
    .selectFrom('outbox')
    .select('id')
    .where((eb) => isDue(eb, toText(batch.now)))
    .orderBy('id')
    .limit(batch.limit)
    .$if(onPostgres(tx), (query) => query.forUpdate().skipLocked())
    .execute();
  if (due.length === 0) return [];

  const rows = await tx
    .updateTable('outbox')
    .set((eb) => ({ ...leaseColumns(batch), attempts: eb('attempts', '+', 1) }))
    .where(
      'id',
      'in',
      due.map(({ id }) => id),
    )
    .returningAll()
    .execute();
  for (const row of rows) await absorbWaiting(tx, row, batch.now);
  return rows.sort((a, b) => a.id - b.id).map(dueFrom);
}

function isDue(eb: ExpressionBuilder<Tables, 'outbox'>, now: string) {
  const isUnderWay = eb
    .selectFrom('outbox as other')
    .select('other.id')
    .whereRef('other.change_id', '=', 'outbox.change_id')
    .whereRef('other.kind', '=', 'outbox.kind')
    .where('other.done_at', 'is', null)
    .where('other.body', 'is', null)
    .where('other.lease_owner', 'is not', null);
  const waits = eb.and([
    eb('lease_owner', 'is', null),
    eb.or([eb('body', 'is not', null), eb.not(eb.exists(isUnderWay))]),
  ]);
  return eb.and([
    eb('done_at', 'is', null),
    eb('not_before', '<=', now),
    eb.or([waits, eb('lease_until', '<=', now)]),
  ]);
}

// A draw that is made again shows what the ones that waited behind it were to show.
async function absorbWaiting(tx: Tx, row: Selectable<OutboxTable>, now: Date): Promise<void> {
  if (row.attempts === 1 || row.change_id === null || row.body !== null) return;
  await tx
    .updateTable('outbox')
    .set({ done_at: toText(now) })
    .where('change_id', '=', row.change_id)
    .where('kind', '=', row.kind)
    .where('body', 'is', null)
    .where('lease_owner', 'is', null)
    .where('done_at', 'is', null)
    .execute();
}

function dueFrom(row: Selectable<OutboxTable>): DueMessage {
  const name = `outbox entry ${row.id} of change ${row.change_id ?? 'none'}`;
  return {
    id: row.id,
    changeId: row.change_id,
    kind: row.kind,
    body: row.body === null ? null : decode(JsonFields, row.body, name),
    attempts: row.attempts,
  };
}

export async function markDone(tx: Tx, id: number, now: Date): Promise<void> {
  const done = { done_at: toText(now) };
  await tx.updateTable('outbox').set(done).where('id', '=', id).execute();
}

// It keeps its owner: it still stands before the draws that came after it.
export async function retryMessageAt(tx: Tx, id: number, notBefore: Date): Promise<void> {
  const later = toText(notBefore);
  await tx
    .updateTable('outbox')
    .set({ not_before: later, lease_until: later })
    .where('id', '=', id)
    .where('done_at', 'is', null)
    .execute();
}

/** What was to be told at a later hour is told now: what it waited for has come already. */
export async function deliverNow(tx: Tx, kind: string, now: Date): Promise<void> {
  await tx
    .updateTable('outbox')
    .set({ not_before: toText(now) })
    .where('kind', '=', kind)
    .where('not_before', '>', toText(now))
    .where('lease_owner', 'is', null)
    .where('done_at', 'is', null)
    .execute();
}

/** What stands for itself and may have been posted before: it does not come from the change. */
export async function discardReports(tx: Tx, now: Date): Promise<void> {
  await tx
    .updateTable('outbox')
    .set({ done_at: toText(now) })
    .where('change_id', 'is', null)
    .where('done_at', 'is', null)
    .execute();
}

/** Forgets what was done before this instant; returns how much that was. */
export async function pruneOutbox(tx: Tx, before: Date): Promise<number> {
  const query = tx.deleteFrom('outbox').where('done_at', '<', toText(before));
  return Number((await query.executeTakeFirst()).numDeletedRows);
}
