import type { Day } from '../costs/calendar/day.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { recordMissedDigest } from '../storage/tables/digests.ts';
import type { DigestContext } from './digest-context.ts';
import { begin } from './permit.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

type Missing = Pick<DigestSubscription, 'key' | 'channel' | 'by'>;

interface Missed {
  readonly day: Day;
  readonly why: string;
  /** What people call the channel, where that is known. */
  readonly channel?: string;
}

/** Written down once, by whichever replica comes first, and told by that one. */
export async function missOnce(
  context: DigestContext,
  one: Missing,
  missed: Missed,
): Promise<void> {
  const row = begin(context, one, missed.day);
  const isNews = await context.database.transaction((tx) => recordMissedDigest(tx, row));
  if (isNews) await reportMissed(context, one, missed);
}

/** Told to whoever asked for it, to those who look after Signalbox, and to the log. */
export async function reportMissed(
  context: DigestContext,
  { key, channel: id, by }: Missing,
  { day, why, channel = id }: Missed,
): Promise<void> {
  const text = `The cost digest of ${channel} for ${dayLabel(day)} was not posted: ${why}.`;
  context.log.warn({ digest: key, day, why }, 'a digest was not posted');
  const title = 'A cost digest was not posted';
  const told = [
    context.messenger.notifyOperators(text),
    ...(by ? [context.messenger.messageUser(by, { title, parts: [{ kind: 'text', text }] })] : []),
  ];
  for (const result of await Promise.allSettled(told)) {
    if (result.status === 'rejected') context.log.warn({ err: result.reason }, 'nobody was told');
  }
}
