import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { ChangeId } from '../../domain/change.ts';
import { compileOnce } from './compile-once.ts';
import { insertOf, type MessageRow, rowOf } from './insert-messages.ts';
import { type Batch, type Lease, leaseColumns } from './lease.ts';
import { isInList, type ListParameter, listParameter } from './lists.ts';
import { decodeMessage, type OutboxMessage, REMINDER_PREFIX } from './outbox-message.ts';
import { decode, JsonFields, toDate, toText } from './portable.ts';
import { onPostgres } from './postgres.ts';
import type { OutboxTable, Tables, Tx } from './schema.ts';
import { runTogether, type Statement } from './together.ts';

export interface DueMessage {
  readonly id: number;
  /** How often the message was claimed, this time included. */
  readonly attempts: number;
  readonly firstTriedAt: Date;
  readonly changeId: ChangeId | null;
  /** The stored kind, for logs and traces. */
  readonly kind: string;
  /** Null for a kind that only a newer release knows. */
  readonly message: OutboxMessage | null;
}

export type PlannedMessage = OutboxMessage & { readonly at: Date };

/**
 * Stores a message for delivery at `at`. A waiting message without a body, of the same change and
 * kind, also covers this one: the earlier of both times counts.
 */
export function enqueue(tx: Tx, message: PlannedMessage): Promise<void> {
  return insert(tx, [rowOf(message)]);
}

/** Stores messages in one statement, which must have different kinds or changes. */
export async function enqueueAll(tx: Tx, messages: readonly PlannedMessage[]): Promise<void> {
  await runTogether(tx, enqueueing(tx, messages));
}

/** The statements of `enqueueAll`: one, or none without messages. */
export function enqueueing(tx: Tx, messages: readonly PlannedMessage[]): readonly Statement[] {
  const rows = messages.map((message) => rowOf(message));
  return rows.length > 0 ? [insertOf(tx, rows)] : [];
}

/** Stores a message that may have been posted before, so that its sender looks for it first. */
export function enqueueAgain(tx: Tx, message: PlannedMessage): Promise<void> {
  return insert(tx, [rowOf(message, 1)]);
}

async function insert(tx: Tx, rows: readonly MessageRow[]): Promise<void> {
  await runTogether(tx, [insertOf(tx, rows)]);
}

/**
 * Claims due messages, oldest first. A message without a body shows the change as it is at
 * delivery. While one of them is being delivered, later ones of the same change and kind wait, so
 * that an older state is never shown after a newer one.
 */
export async function claimDueMessages(tx: Tx, batch: Batch): Promise<DueMessage[]> {
  const due = await tx
    .selectFrom('outbox')
    .select('id')
    .where((eb) => isDue(eb, toText(batch.now)))
    // An expression, so that SQLite reads the index of open messages, and not all messages by their id.
    .orderBy(sql`id + 0`)
    .limit(batch.limit)
    .$if(onPostgres(tx), (query) => query.forUpdate().skipLocked())
    .execute();
  if (due.length === 0) return [];

  const rows = await tx
    .updateTable('outbox')
    .set((eb) => ({
      ...leaseColumns(batch),
      attempts: eb('attempts', '+', 1),
      first_tried_at: eb.fn.coalesce('first_tried_at', eb.val(toText(batch.now))),
    }))
    .where(
      'id',
      'in',
      due.map(({ id }) => id),
    )
    .returningAll()
    .execute();
  for (const row of rows) await absorbWaiting(tx, row, batch.now);
  return rows.sort((a, b) => a.id - b.id).map((row) => dueFrom(row, batch.now));
}

function isDue(eb: ExpressionBuilder<Tables, 'outbox'>, now: string) {
  // Not correlated, so that it is read once.
  const underWay = eb
    .selectFrom('outbox as other')
    .select(['other.change_id', 'other.kind'])
    .where('other.done_at', 'is', null)
    .where('other.body', 'is', null)
    .where('other.change_id', 'is not', null)
    .where('other.lease_owner', 'is not', null);
  const waits = eb.and([
    eb('lease_owner', 'is', null),
    eb.or([
      eb('body', 'is not', null),
      eb('change_id', 'is', null),
      eb(eb.refTuple('change_id', 'kind'), 'not in', underWay.$asTuple('change_id', 'kind')),
    ]),
  ]);
  return eb.and([
    eb('done_at', 'is', null),
    eb('not_before', '<=', now),
    eb.or([waits, eb('lease_until', '<=', now)]),
  ]);
}

// A repeated delivery shows the current state, so that waiting messages of its kind are obsolete.
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

function dueFrom(row: Selectable<OutboxTable>, now: Date): DueMessage {
  const { id, attempts, change_id: changeId, kind } = row;
  const name = `outbox message ${id} of change ${changeId ?? 'none'}`;
  const body = row.body === null ? null : decode(JsonFields, row.body, name);
  const firstTriedAt = toDate(row.first_tried_at) ?? now;
  const message = decodeMessage({ changeId, kind, body });
  return { id, attempts, firstTriedAt, changeId, kind, message };
}

/** Extends the lease of messages. Returns those that their owner still holds. */
export async function extendLease(
  tx: Tx,
  ids: readonly number[],
  lease: Lease,
): Promise<ReadonlySet<number>> {
  const held = await tx
    .updateTable('outbox')
    .set(leaseColumns(lease))
    .where('id', 'in', ids)
    .where('lease_owner', '=', lease.owner)
    .where('done_at', 'is', null)
    .returning('id')
    .execute();
  return new Set(held.map(({ id }) => id));
}

export async function markDone(tx: Tx, ids: readonly number[], now: Date): Promise<void> {
  await runTogether(tx, [markingDone(tx, ids, now)]);
}

/** The statement of `markDone`. */
export function markingDone(tx: Tx, ids: readonly number[], now: Date): Statement {
  return endMessages.with(tx, listParameter(tx, ids), toText(now));
}

const endMessages = compileOnce((tx: Tx, ids: ListParameter, now: string) =>
  tx
    .updateTable('outbox')
    .set({ done_at: now })
    .where((eb) => isInList(tx, eb.ref('id'), ids)),
);

// The row keeps its owner, so that later messages of the same change and kind still wait.
export async function retryMessageAt(tx: Tx, id: number, notBefore: Date): Promise<void> {
  const later = toText(notBefore);
  await tx
    .updateTable('outbox')
    .set({ not_before: later, lease_until: later })
    .where('id', '=', id)
    .where('done_at', 'is', null)
    .execute();
}

/** Delays the waiting reminders of a change until a time, unless they are due after it. */
export async function delayReminders(tx: Tx, changeId: ChangeId, until: Date): Promise<void> {
  await tx
    .updateTable('outbox')
    .set({ not_before: toText(until) })
    .where('change_id', '=', changeId)
    .where('kind', 'like', `${REMINDER_PREFIX}%`)
    .where('not_before', '<', toText(until))
    .where('lease_owner', 'is', null)
    .where('done_at', 'is', null)
    .execute();
}

/** Makes all waiting offers to revert after a freeze due now, because the freeze was lifted. */
export async function deliverUnfreezeOffers(tx: Tx, now: Date): Promise<void> {
  await tx
    .updateTable('outbox')
    .set({ not_before: toText(now) })
    .where('kind', '=', 'unfreeze-offer')
    .where('not_before', '>', toText(now))
    .where('lease_owner', 'is', null)
    .where('done_at', 'is', null)
    .execute();
}

/** After a restore, reports may have been posted before: Signalbox does not post them again. */
export async function discardReports(tx: Tx, now: Date): Promise<void> {
  await tx
    .updateTable('outbox')
    .set({ done_at: toText(now) })
    .where('kind', 'in', ['report', 'redraw'])
    .where('done_at', 'is', null)
    .execute();
}

/** Deletes messages that were delivered before this time; returns how many. */
export async function pruneOutbox(tx: Tx, before: Date): Promise<number> {
  const query = tx.deleteFrom('outbox').where('done_at', '<', toText(before));
  return Number((await query.executeTakeFirst()).numDeletedRows);
}
