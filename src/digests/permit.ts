import type { ChannelId } from '../changes/change.ts';
import type { Day } from '../costs/calendar/day.ts';
import { type Digest, endDigest } from '../storage/tables/digests.ts';
import { type Said, storeSaid } from './last-posted.ts';
import type { DigestWorld } from './run.ts';
import type { Subscribed } from './subscriptions/subscriptions.ts';

/** The permit of one posting, as it is written before the post. */
export type Begun = Pick<Digest, 'channel' | 'day' | 'owner' | 'at'>;

export function begin(world: DigestWorld, { key }: Pick<Subscribed, 'key'>, day: Day): Begun {
  // The key of a digest begins with its channel, and stands in the channel's place.
  return { channel: key as ChannelId, day, owner: world.instance, at: world.now() };
}

export function end(
  { database }: DigestWorld,
  begun: Begun,
  state: 'posted' | 'missed' | 'unknown',
  ts: string | null,
): Promise<boolean> {
  return database.transaction((tx) => endDigest(tx, begun, { state, ts }));
}

interface Stands {
  readonly ts: string;
  /** The key of the digest, which is not that of the permit where it was posted by hand. */
  readonly digest: string;
  readonly said: Said | null;
}

/** With what it said, so that the next one can tell what was revised. */
export function endPosted(
  { database }: DigestWorld,
  begun: Begun,
  { ts, digest, said }: Stands,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const isOurs = await endDigest(tx, begun, { state: 'posted', ts });
    if (isOurs && said) await storeSaid(tx, digest, said);
    return isOurs;
  });
}
