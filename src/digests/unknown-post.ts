import { dayLabel } from '../costs/calendar/span-label.ts';
import { takeOverDigest, unfinishedDigests } from '../storage/tables/digests.ts';
import type { DigestContext } from './digest-context.ts';
import { end, type PostPermit } from './permit.ts';

const STUCK_MS = 10 * 60_000;

/** Whoever had the permit has died: it may stand in the channel, so that it is never posted again. */
export async function settleStuck(context: DigestContext, now: Date): Promise<void> {
  const { database, instance: owner } = context;
  for (const seen of await unfinishedDigests(database.db, new Date(now.getTime() - STUCK_MS))) {
    const taking = { owner, at: seen.at };
    const taken = await database.transaction((tx) => takeOverDigest(tx, seen, taking));
    if (taken) await endUnknown(context, { ...seen, owner });
  }
}

export async function endUnknown(context: DigestContext, begun: PostPermit): Promise<void> {
  const isNews = await end(context, begun, 'unknown', null);
  if (!isNews) return;
  const [channel = begun.channel] = begun.channel.split('|');
  // One that was posted by hand has the minute behind its day.
  const day = dayLabel(begun.day.slice(0, 10));
  const text =
    `Nobody knows whether the cost digest of ${channel} for ${day} was posted: the connection ` +
    'broke, or Signalbox stopped, meanwhile. It is not posted a second time. The cost ' +
    'command shows the same figures.';
  await context.messenger.notifyOperators(text).catch((error: unknown) => {
    context.log.warn({ err: error, digest: begun.channel }, 'nobody was told of an unknown digest');
  });
}
