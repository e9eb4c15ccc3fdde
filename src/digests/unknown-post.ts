import { dayLabel } from '../costs/calendar/span-label.ts';
import { stuckDigests, takeOverDigest } from '../storage/tables/digests.ts';
import { type Begun, end } from './permit.ts';
import type { DigestWorld } from './run.ts';

const STUCK_MS = 10 * 60_000;

/** Whoever had the permit has died: it may stand in the channel, so that it is never posted again. */
export async function settleStuck(world: DigestWorld, now: Date): Promise<void> {
  const { database, instance: owner } = world;
  for (const seen of await stuckDigests(database.db, new Date(now.getTime() - STUCK_MS))) {
    const taking = { owner, at: seen.at };
    const taken = await database.transaction((tx) => takeOverDigest(tx, seen, taking));
    if (taken) await endUnknown(world, { ...seen, owner });
  }
}

export async function endUnknown(world: DigestWorld, begun: Begun): Promise<void> {
  const isNews = await end(world, begun, 'unknown', null);
  if (!isNews) return;
  const [channel = begun.channel] = begun.channel.split('|');
  // One that was posted by hand has the minute behind its day.
  const day = dayLabel(begun.day.slice(0, 10));
  const text =
    `Nobody knows whether the cost digest of ${channel} for ${day} was posted: the connection ` +
    'broke, or Signalbox stopped, meanwhile. It is not posted a second time; /cost shows the ' +
    'same figures.';
  await world.messenger.tellKeepers(text).catch((error: unknown) => {
    world.log.warn({ err: error, digest: begun.channel }, 'nobody was told of an unknown digest');
  });
}
