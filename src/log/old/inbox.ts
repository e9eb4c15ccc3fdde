import type { ExpressionBuilder, Selectable } from 'kysely';
import type { JsonObject } from '../../base/text.ts';
import { compileOnce } from '../../storage/old/compile-once.ts';
import { type Batch, type Lease, leaseColumns } from '../../storage/old/lease.ts';
import { isInList, type ListParameter, listParameter } from '../../storage/old/lists.ts';
import { JsonFields, toDate, toText } from '../../storage/old/portable.ts';
import { onPostgres } from '../../storage/old/postgres.ts';
import type { Db, InboxTable, Tables, Tx } from '../../storage/old/schema.ts';
import { keepRows, runTogether, type Statement } from '../../storage/old/together.ts';
import type { AuditKey } from './key-ring.ts';
import {
  type ClickKeys,
  type ClickProblem,
  clickKeys,
  problemOf,
  signClick,
} from './verify-click.ts';

export interface ReceivedClick {
  readonly key: string;
  readonly kind: string;
  readonly body: JsonObject;
  readonly at: Date;
}

export interface ClaimedClick extends ReceivedClick {
  /** How often the click was claimed, this time included. */
  readonly attempts: number;
  /** Why the click must not be handled; null: it is as Signalbox stored it. */
  readonly problem: ClickProblem | null;
}

/**
 * Stores clicks with their signatures. Returns those that were not stored before: the process that stored a
 * click handles it.
 */
export async function storeClicks<Click extends ReceivedClick>(
  tx: Tx,
  { signing }: Pick<ClickKeys, 'signing'>,
  clicks: readonly Click[],
): Promise<readonly Click[]> {
  const stored = await runTogether(
    tx,
    clicks.map(({ key, kind, body, at }) => {
      const click = { dedup_key: key, kind, body: JSON.stringify(body), at: toText(at) };
      return insertClick.with(
        tx,
        key,
        kind,
        click.body,
        click.at,
        signing && signClick(signing, click),
      );
    }),
  );
  return clicks.filter((_, index) => (stored[index] ?? []).length > 0);
}

/** Like `storeClicks`: returns false if the click was stored before. */
export async function storeClick(
  tx: Tx,
  keys: Pick<ClickKeys, 'signing'>,
  click: ReceivedClick,
): Promise<boolean> {
  return (await storeClicks(tx, keys, [click])).length > 0;
}

const insertClick = compileOnce(
  (tx: Tx, key: string, kind: string, body: string, at: string, signature: string | null) =>
    tx
      .insertInto('inbox')
      .values({ dedup_key: key, kind, body, at, not_before: at, attempts: 0, signature })
      .onConflict((conflict) => conflict.doNothing())
      .returning('dedup_key'),
);

interface HandledStatement extends Statement {
  /** Whether the action was not stored before. */
  readonly isFirst: () => boolean;
}

/** The statement that stores only the key of an action that is handled in this transaction. */
export function storingHandled(
  tx: Tx,
  { key, kind, at }: Omit<ReceivedClick, 'body'>,
): HandledStatement {
  const { rows, ...statement } = keepRows(insertHandled.with(tx, key, kind, toText(at)));
  return { ...statement, isFirst: () => rows().length > 0 };
}

const insertHandled = compileOnce((tx: Tx, key: string, kind: string, at: string) => {
  const times = { at, not_before: at, handled_at: at };
  return tx
    .insertInto('inbox')
    .values({ dedup_key: key, kind, ...times, attempts: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .returning('dedup_key');
});

/** Claims due clicks, oldest first, and verifies each of them alone. */
export async function claimDueClicks(
  tx: Tx,
  auditKey: AuditKey,
  batch: Batch,
): Promise<ClaimedClick[]> {
  const due = await selectDue(tx, toText(batch.now), batch.limit);
  const keys = due.map((row) => row.dedup_key);
  const rows = await lease(tx, keys, batch);
  if (rows.length === 0) return [];
  const trusted = await clickKeys(tx, auditKey, batch.now);
  return rows
    .sort((a, b) => compare(a.at, b.at) || compare(a.dedup_key, b.dedup_key))
    .map((row) => claimedFrom(row, trusted, batch.now));
}

const selectDue = compileOnce((tx: Tx, now: string, limit: number) =>
  tx
    .selectFrom('inbox')
    .select('dedup_key')
    .where((eb) => isFree(eb, now))
    .where('not_before', '<=', now)
    .orderBy('at')
    .orderBy('dedup_key')
    .limit(limit)
    .$if(onPostgres(tx), (query) => query.forUpdate().skipLocked()),
);

/** Claims one click; false if another process holds it or it was handled. */
export async function claimClick(tx: Tx, key: string, by: Lease): Promise<boolean> {
  return (await lease(tx, [key], by)).length > 0;
}

/** Extends a lease; without effect if the click was handled or another process took it over. */
export async function renewClick(tx: Tx, key: string, by: Lease): Promise<void> {
  await tx
    .updateTable('inbox')
    .set(leaseColumns(by))
    .where('dedup_key', '=', key)
    .where('lease_owner', '=', by.owner)
    .where('handled_at', 'is', null)
    .execute();
}

async function lease(tx: Tx, keys: string[], by: Lease): Promise<Selectable<InboxTable>[]> {
  if (keys.length === 0) return [];
  const { lease_owner, lease_until } = leaseColumns(by);
  return leaseFree(tx, listParameter(tx, keys), toText(by.now), lease_owner, lease_until);
}

const leaseFree = compileOnce(
  (tx: Tx, keys: ListParameter, now: string, lease_owner: string, lease_until: string) =>
    tx
      .updateTable('inbox')
      .set((eb) => ({ lease_owner, lease_until, attempts: eb('attempts', '+', 1) }))
      .where((eb) => isInList(tx, eb.ref('dedup_key'), keys))
      .where((eb) => isFree(eb, now))
      .returningAll(),
);

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function isFree(eb: ExpressionBuilder<Tables, 'inbox'>, now: string) {
  return eb.and([
    eb('handled_at', 'is', null),
    eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', now)]),
  ]);
}

function claimedFrom(row: Selectable<InboxTable>, keys: ClickKeys, now: Date): ClaimedClick {
  const body = readBody(row.body);
  return {
    key: row.dedup_key,
    kind: row.kind,
    body: body ?? {},
    at: toDate(row.at),
    attempts: row.attempts,
    problem: problemOf(row, keys, now) ?? (body ? null : 'unreadable'),
  };
}

function readBody(text: string | null): JsonObject | null {
  try {
    return JsonFields.parse(JSON.parse(text ?? ''));
  } catch {
    // The caller reports the row: one unreadable click must not stop the others.
    return null;
  }
}

/**
 * Keeps only the key, to recognize a redelivery; body and signature are deleted. Returns false if the click
 * was handled before.
 */
export async function markHandled(tx: Tx, key: string, now: Date): Promise<boolean> {
  return (await endClick(tx, key, toText(now))).length > 0;
}

/** The statement of `markHandled`. It returns no rows if the click was handled before. */
export function markingHandled(tx: Tx, key: string, now: Date): Statement {
  return endClick.with(tx, key, toText(now));
}

const endClick = compileOnce((tx: Tx, key: string, now: string) =>
  tx
    .updateTable('inbox')
    .set({
      handled_at: now,
      body: null,
      signature: null,
      lease_owner: null,
      lease_until: null,
    })
    .where('dedup_key', '=', key)
    .where('handled_at', 'is', null)
    .returning('dedup_key'),
);

/** Whether a stored click was handled. Handled clicks are deleted later. */
export async function isClickHandled(db: Db, key: string): Promise<boolean> {
  const query = db.selectFrom('inbox').select('handled_at').where('dedup_key', '=', key);
  return (await query.executeTakeFirst())?.handled_at !== null;
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
