import type { Selectable } from 'kysely';
import type { ChannelId } from '../../changes/change.ts';
import { toDate, toText } from '../engine/portable.ts';
import type { Db, DigestTable, Tx } from './schema.ts';

export interface Digest {
  readonly channel: ChannelId;
  /** The channel's local day, as 2026-08-14. */
  readonly day: string;
  readonly state: DigestTable['state'];
  readonly owner: string;
  readonly at: Date;
  readonly ts: string | null;
}

type DigestPermit = Pick<Digest, 'channel' | 'day' | 'owner' | 'at'>;

/** The right to post, to be committed before the post. False: somebody has or had it. */
export function permitDigest(tx: Tx, digest: DigestPermit): Promise<boolean> {
  return insertDigest(tx, digest, 'sending');
}

/** Writes down that no digest came that day. False: one did, or is about to. */
export function recordMissedDigest(tx: Tx, digest: DigestPermit): Promise<boolean> {
  return insertDigest(tx, digest, 'missed');
}

async function insertDigest(
  tx: Tx,
  { channel, day, owner, at }: DigestPermit,
  state: DigestTable['state'],
): Promise<boolean> {
  const inserted = await tx
    .insertInto('digest')
    .values({ channel, day, state, owner, at: toText(at), ts: null })
    .onConflict((conflict) => conflict.doNothing())
    .returning('day')
    .execute();
  return inserted.length > 0;
}

/** From an owner who seems to have died, exactly as seen. False: it moved meanwhile. */
export async function takeOverDigest(
  tx: Tx,
  seen: Digest,
  { owner, at }: { owner: string; at: Date },
): Promise<boolean> {
  const taken = await tx
    .updateTable('digest')
    .set({ owner, at: toText(at) })
    .where('channel', '=', seen.channel)
    .where('day', '=', seen.day)
    .where('state', '=', 'sending')
    .where('owner', '=', seen.owner)
    .where('at', '=', toText(seen.at))
    .returning('day')
    .execute();
  return taken.length > 0;
}

/** False: the digest is no longer this owner's to end. */
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

/** Those whose permit was written before this instant and that nobody has ended since. */
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

/** Nobody can say whether these were posted; none of them is posted again. Returns how many. */
export async function markDigestsUnknown(tx: Tx): Promise<number> {
  const doubted = await tx
    .updateTable('digest')
    .set({ state: 'unknown' })
    .where('state', '=', 'sending')
    .returning('day')
    .execute();
  return doubted.length;
}

function digestFrom(row: Selectable<DigestTable>): Digest {
  return { ...row, at: toDate(row.at) };
}

/** Surely nothing was posted: the permit is given back, and somebody may try again. */
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

/** For each channel the last day that was posted, or may have been, with when that began. */
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
