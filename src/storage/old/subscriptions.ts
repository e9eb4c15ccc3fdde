import type { JsonObject } from '../../base/text.ts';
import type { UserId } from '../../domain/change.ts';
import { decode, JsonFields, toDate, toText } from './portable.ts';
import type { Db, Tx } from './schema.ts';

/** A digest that a user added in Slack, in addition to those of the configuration. */
export interface Subscription {
  readonly id: string;
  readonly channel: string;
  readonly options: JsonObject;
  readonly paused: boolean;
  readonly createdBy: UserId;
  readonly createdAt: Date;
}

export async function addSubscription(tx: Tx, subscription: Subscription): Promise<void> {
  const { id, channel, options, paused, createdBy, createdAt } = subscription;
  await tx
    .insertInto('subscription')
    .values({
      id,
      channel,
      options: JSON.stringify(options),
      paused: paused ? 1 : 0,
      created_by: createdBy,
      created_at: toText(createdAt),
    })
    .execute();
}

export async function removeSubscription(tx: Tx, id: string): Promise<boolean> {
  const query = tx.deleteFrom('subscription').where('id', '=', id);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

export async function pauseSubscription(tx: Tx, id: string, paused: boolean): Promise<boolean> {
  const update = tx.updateTable('subscription').set({ paused: paused ? 1 : 0 });
  return (await update.where('id', '=', id).executeTakeFirst()).numUpdatedRows > 0n;
}

export async function subscriptions(db: Db): Promise<readonly Subscription[]> {
  const rows = await db.selectFrom('subscription').selectAll().orderBy('created_at').execute();
  return rows.map((row) => ({
    id: row.id,
    channel: row.channel,
    options: decode(JsonFields, row.options, `subscription ${row.id}`),
    paused: row.paused === 1,
    createdBy: row.created_by,
    createdAt: toDate(row.created_at),
  }));
}
