import { addMonths } from '../../costs/calendar/calendar.ts';
import type { CostSelector } from '../../policy/policy-types.ts';
import { lastDigests } from '../../storage/tables/digests.ts';
import type { DigestContext } from '../digest-context.ts';
import { type DigestSubscription, loadSubscriptions } from '../subscriptions/subscriptions.ts';
import type { ClosingKey } from './closing-record.ts';

/** A channel with a scope of its digests. Several digests with one scope get one announcement. */
interface ClosingChannel {
  /** The id of the channel and the scope. */
  readonly name: string;
  readonly channel: string;
  /** Null for all costs. */
  readonly on: CostSelector | null;
  readonly digests: readonly DigestSubscription[];
}

/** The key of the announcement of a month. A monthly digest with final figures has the same key. */
export function closingKey({ month, organizationId }: ClosingKey, name: string): string {
  return `final-month ${organizationId} ${month} ${name}`;
}

export function closingName(channelId: string, on: CostSelector | null): string {
  return JSON.stringify([channelId, on]);
}

/** The channels of all digests that are not paused or muted; null if Slack did not answer. */
export async function closingChannels(
  context: Pick<DigestContext, 'database' | 'messenger' | 'configured' | 'readOptions'>,
  now: Date,
): Promise<readonly ClosingChannel[] | null> {
  const { all } = await loadSubscriptions(context.database.db, context);
  const active = all.filter(
    ({ paused, options: { mutedUntil } }) => !paused && (mutedUntil === null || mutedUntil <= now),
  );
  const wanted = [...new Set(active.map(({ channel }) => channel))];
  const found = await context.messenger.findChannels(wanted);
  const ids = new Map<string, string>();
  for (const channel of wanted) {
    const lookup = found.get(channel);
    if (!lookup || (!lookup.ok && lookup.why === 'lookup-failed')) return null;
    ids.set(channel, lookup.ok ? lookup.room.id : channel);
  }
  const nameOf = ({ channel, options }: DigestSubscription) =>
    closingName(ids.get(channel) ?? channel, options.on);
  return [...Map.groupBy(active, nameOf)].flatMap(([name, digests]) => {
    const [first] = digests;
    return first ? [{ name, channel: first.channel, on: first.options.on, digests }] : [];
  });
}

interface FinalMonth {
  readonly month: string;
  /** When the month was first read with final figures. */
  readonly finalAt: Date;
  readonly now: Date;
}

/** A monthly digest is posted once a day at most. */
const WAIT_MS = 24 * 3_600_000;

/** The channels whose monthly digest is still to come: it announces the final figures itself. */
export async function channelsLeftToDigests(
  { database }: Pick<DigestContext, 'database'>,
  channels: readonly ClosingChannel[],
  { month, finalAt, now }: FinalMonth,
): Promise<readonly ClosingChannel[]> {
  if (now.getTime() - finalAt.getTime() >= WAIT_MS) return [];
  const last = await lastDigests(database.db);
  const following = addMonths(`${month}-01`, 1);
  const isToCome = ({ key, options }: DigestSubscription) =>
    options.period === 'month' && (last.get(key)?.day ?? '') < following;
  return channels.filter(({ digests }) => digests.some(isToCome));
}
