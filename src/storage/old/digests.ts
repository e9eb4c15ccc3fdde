import type { Selectable } from 'kysely';
import type { ChannelId } from '../../domain/change.ts';
import { toDate, toText } from './portable.ts';
import type { Db, DigestTable, Tx } from './schema.ts';

interface Digest {
  readonly channel: ChannelId;
  /** The local day of the channel, for example 2026-08-14. */
  readonly day: string;
  readonly state: DigestTable['state'];
  readonly owner: string;
  readonly at: Date;
  readonly ts: string | null;
}

type DigestPermit = Pick<Digest, 'channel' | 'day' | 'owner' | 'at'>;

/** Stores the permit to post; commit it before the post. False: a permit of that day exists. */
export async function permitDigest(
  tx: Tx,
  { channel, day, owner, at }: DigestPermit,
): Promise<boolean> {
  const inserted = await tx
    .insertInto('digest')
    .values({ channel, day, state: 'sending', owner, at: toText(at), ts: null })
    .onConflict((conflict) => conflict.doNothing())
    .returning('day')
    .execute();
  return inserted.length > 0;
}

/** Takes over the permit of a crashed replica. False: the permit changed since it was read. */
export async function takeOverDigest(
  tx: Tx,
  seen: Digest,
  { owner, at }: { owner: string; at: Date },
): Promise<boolean> {
  const updated = await tx
    .updateTable('digest')
    .set({ owner, at: toText(at) })
    .where('channel', '=', seen.channel)
    .where('day', '=', seen.day)
    .where('state', '=', 'sending')
    .where('owner', '=', seen.owner)
    .where('at', '=', toText(seen.at))
    .returning('day')
    .execute();
  return updated.length > 0;
}

/** Stores the result of a post. False: this replica does not hold the permit any more. */
export async function finishDigest(
  tx: Tx,
  { channel, day, owner }: Pick<Digest, 'channel' | 'day' | 'owner'>,
  end: { state: Exclude<DigestTable['state'], 'sending'>; ts: string | null },
): Promise<boolean> {
  const ended = await tx
    .updateTable('digest')
    .set(end)
    .where('channel', '=', channel)
    .where('day', '=', day)
    .where('owner', '=', owner)
    .where('state', '=', 'sending')
    .returning('day')
    .execute();
  return ended.length > 0;
}

/** Returns permits from before this time that have no result yet. */
export async function unfinishedDigests(db: Db, before: Date): Promise<Digest[]> {
  const rows = await db
    .selectFrom('digest')
    .selectAll()
    .where('state', '=', 'sending')
    .where('at', '<', toText(before))
    .orderBy('at')
    .execute();
  return rows.map(digestFrom);
}

/** Marks all open permits as unknown, so that none is posted twice. Returns how many. */
export async function markDigestsUnknown(tx: Tx): Promise<number> {
  const marked = await tx
    .updateTable('digest')
    .set({ state: 'unknown' })
    .where('state', '=', 'sending')
    .returning('day')
    .execute();
  return marked.length;
}

function digestFrom(row: Selectable<DigestTable>): Digest {
  return { ...row, at: toDate(row.at) };
}

/** Deletes a permit after a definite refusal, so that the post can be tried again. */
export async function withdrawDigest(
  tx: Tx,
  { channel, day, owner }: Pick<Digest, 'channel' | 'day' | 'owner'>,
): Promise<boolean> {
  const withdrawn = await tx
    .deleteFrom('digest')
    .where('channel', '=', channel)
    .where('day', '=', day)
    .where('owner', '=', owner)
    .where('state', '=', 'sending')
    .returning('day')
    .execute();
  return withdrawn.length > 0;
}

/** Returns the last day of each channel that was posted, or may have been, with its start. */
export async function lastDigests(
  db: Db,
): Promise<ReadonlyMap<string, { readonly day: string; readonly at: Date }>> {
  const rows = await db
    .selectFrom('digest')
    .select(({ fn }) => ['channel', fn.max('day').as('day'), fn.max('at').as('at')])
    .where('state', '!=', 'missed')
    .groupBy('channel')
    .execute();
  return new Map(rows.map(({ channel, day, at }) => [channel, { day, at: toDate(at) }]));
}
