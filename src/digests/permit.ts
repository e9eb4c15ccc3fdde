import type { ChannelId } from '../changes/change.ts';
import type { Day } from '../costs/calendar/day.ts';
import { type Digest, finishDigest } from '../storage/tables/digests.ts';
import type { DigestContext } from './digest-context.ts';
import { type LastPostedFigures, storeLastPosted } from './last-posted.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

/** The permit of one posting, as it is written before the post. */
export type PostPermit = Pick<Digest, 'channel' | 'day' | 'owner' | 'at'>;

export function begin(
  context: DigestContext,
  { key }: Pick<DigestSubscription, 'key'>,
  day: Day,
): PostPermit {
  // The key of a digest begins with its channel, and stands in the channel's place.
  return { channel: key as ChannelId, day, owner: context.instance, at: context.now() };
}

export function end(
  { database }: DigestContext,
  begun: PostPermit,
  state: 'posted' | 'missed' | 'unknown',
  ts: string | null,
): Promise<boolean> {
  return database.transaction((tx) => finishDigest(tx, begun, { state, ts }));
}

interface Stands {
  readonly ts: string;
  /** The key of the digest, which is not that of the permit where it was posted by hand. */
  readonly digest: string;
  readonly said: LastPostedFigures | null;
}

/** With what it said, so that the next one can tell what was revised. */
export function endPosted(
  { database }: DigestContext,
  begun: PostPermit,
  { ts, digest, said }: Stands,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const isOurs = await finishDigest(tx, begun, { state: 'posted', ts });
    if (isOurs && said) await storeLastPosted(tx, digest, said);
    return isOurs;
  });
}
