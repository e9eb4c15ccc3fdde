import { formatDay } from '../base/calendar.ts';
import type { ChannelId } from '../domain/change.ts';
import {
  finishDigest,
  permitDigest,
  takeOverDigest,
  unfinishedDigests,
  withdrawDigest,
} from '../storage/tables/digests.ts';
import { endUnknown, type PostRecord, STUCK_AFTER_MS } from '../workflow/notify/post-once.ts';
import type { DigestContext } from './digest-context.ts';
import { type LastPostedFigures, storeLastPosted } from './last-posted.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

interface DigestPost {
  /** The local day of the channel; for *Post now*, the minute. */
  readonly day: string;
  /** The key of the record: that of the digest, or another one for *Post now*. */
  readonly key?: string;
  /** The name of the channel, if known. */
  readonly channelName?: string;
  /** Stored when the digest is posted, for the comparison in the next one. */
  readonly figures?: LastPostedFigures | null;
}

/** The record of a digest and its local day, in the table `digest`. */
export function digestRecord(
  context: Pick<DigestContext, 'instance' | 'now'>,
  one: Pick<DigestSubscription, 'key' | 'channel' | 'by'>,
  { day, key = one.key, channelName = one.channel, figures = null }: DigestPost,
): PostRecord {
  // The key of a digest begins with its channel, so the column `channel` holds the key.
  const channel = key as ChannelId;
  const row = { channel, day, owner: context.instance, at: context.now() };
  return {
    subject: `the cost digest of ${channelName} for ${formatDay(day.slice(0, 10))}`,
    requester: one.by,
    permit: (tx) => permitDigest(tx, row),
    withdraw: (tx) => withdrawDigest(tx, row),
    end: async (tx, end) => {
      const at = end.state === 'posted' ? end.at : null;
      const isOwn = await finishDigest(tx, row, { state: end.state, ts: at?.ts ?? null });
      if (isOwn && at && figures) await storeLastPosted(tx, one.key, figures);
      return isOwn;
    },
  };
}

/** Ends the records of processes that crashed: whether they posted is unknown. */
export async function endStuckDigests(context: DigestContext, now: Date): Promise<void> {
  const { database, instance: owner } = context;
  for (const stuck of await unfinishedDigests(
    database.db,
    new Date(now.getTime() - STUCK_AFTER_MS),
  )) {
    const taking = { owner, at: stuck.at };
    if (!(await database.transaction((tx) => takeOverDigest(tx, stuck, taking)))) continue;
    const [channel = ''] = stuck.channel.split('|');
    const one = { key: stuck.channel, channel, by: null };
    await endUnknown(context, digestRecord(context, one, { day: stuck.day }));
  }
}
