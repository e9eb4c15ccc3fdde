import type { ChannelId } from '../changes/change.ts';
import type { Day } from '../costs/day.ts';
import { type Digest, endDigest } from '../storage/digests.ts';
import type { DigestWorld } from './run.ts';
import type { Subscribed } from './subscribed.ts';

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
