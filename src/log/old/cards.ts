import { sql } from 'kysely';
import type { ChangeId, Position } from '../../domain/change.ts';
import type { Db, Tx } from '../../storage/old/schema.ts';
import { type Builder, IS_OPEN, readIds, selectIds } from './change-query.ts';

/** Open changes whose card was never posted and does not wait in the outbox, oldest first. */
export function changesWithoutCard(db: Db, limit: number): Promise<ChangeId[]> {
  const where = (eb: Builder) => eb.and([IS_OPEN, eb('state', '!=', 'draft'), hasNoCard(eb)]);
  return readIds(db, { query: selectIds(db, where, limit).compile() });
}

function hasNoCard(eb: Builder) {
  const waiting = eb
    .selectFrom('outbox')
    .select('outbox.id')
    .whereRef('outbox.change_id', '=', 'change.id')
    .where('outbox.kind', '=', 'card')
    .where('outbox.done_at', 'is', null);
  return eb.and([eb('card_ts', 'is', null), eb.not(eb.exists(waiting))]);
}

/** Open changes with a card, oldest first. */
export function changesWithCard(db: Db, limit: number): Promise<ChangeId[]> {
  const where = (eb: Builder) => eb.and([IS_OPEN, eb('card_ts', 'is not', null)]);
  return readIds(db, { query: selectIds(db, where, limit).compile() });
}

/** Removes the position of a deleted card. Returns false if another process did so before. */
export async function clearCard(tx: Tx, id: ChangeId, { ts }: Position): Promise<boolean> {
  const cleared = await tx
    .updateTable('change')
    .set({ card_channel: null, card_ts: null, card_version: null })
    .where('id', '=', id)
    .where('card_ts', '=', ts)
    .returning(sql<number>`1`.as('one'))
    .execute();
  return cleared.length > 0;
}
