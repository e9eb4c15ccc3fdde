import type { Day } from '../costs/calendar/day.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { permitDigest, withdrawDigest } from '../storage/tables/digests.ts';
import type { Channel, ChannelLookup, PostResult } from '../workflow/messenger-port.ts';
import { type ComposedDigest, composeDigest } from './compose.ts';
import type { DigestContext, DueDigest } from './digest-context.ts';
import { type DigestData, digestFacts } from './gather.ts';
import { readLastPosted } from './last-posted.ts';
import { missOnce, reportMissed } from './missed.ts';
import { begin, end, endPosted, type PostPermit } from './permit.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';
import { endUnknown } from './unknown-post.ts';

export type DigestPostOutcome =
  | 'posted'
  | 'quiet'
  | 'taken'
  | 'refused'
  | 'too-early'
  | 'unknown'
  | 'later'
  | 'failed';

/** False: too early, and worth another try in a moment. */
export type Details = () => Promise<boolean>;

interface With {
  readonly found: ChannelLookup;
  readonly gathered: DigestData;
  /** For what has time until everything else stands in its channel. */
  readonly afterwards: (work: Details) => void;
}

/** The permit is committed before the post, so that no crash and no replica posts it again. */
export async function postDigest(
  context: DigestContext,
  due: DueDigest,
  { found, gathered, afterwards }: With,
): Promise<DigestPostOutcome> {
  const { one, slot } = due;
  if (!found.ok && found.why === 'lookup-failed') {
    context.log.warn({ digest: one.key }, 'Slack did not tell of a channel: its digest waits');
    return 'later';
  }
  const why = whyNot(found);
  if (why !== null || !found.ok) {
    const channel = found.ok ? `#${found.room.name}` : one.channel;
    const told = { day: slot.localDay, why: why ?? 'it is not there', channel };
    await missOnce(context, one, told);
    return 'refused';
  }

  const composed = await compose(context, due, gathered);
  const begun = begin(context, one, slot.localDay);
  if (!(await context.database.transaction((tx) => permitDigest(tx, begun)))) return 'taken';
  if (isQuiet(one, composed, slot.localDay)) {
    await end(context, begun, 'posted', null);
    return 'quiet';
  }
  return send(context, { one, begun, room: found.room, composed, afterwards });
}

/** Costs are for this workspace only: people of another one would read them. */
export function whyNot(found: ChannelLookup): string | null {
  if (!found.ok) return 'there is no such channel, or Signalbox is not in it';
  if (found.room.outside) return 'it is shared with another workspace, and costs stay in this one';
  return found.room.joined ? null : 'Signalbox is not in it: /invite it there';
}

async function compose(context: DigestContext, due: DueDigest, gathered: DigestData) {
  const { one, slot, next } = due;
  const attention = await context.attention(one, gathered);
  const lastPosted = await readLastPosted(context.database.db, one.key);
  return composeDigest(
    digestFacts(one, { covers: slot.covers, next, lastPosted, attention }, gathered),
  );
}

/** A digest that speaks only when there is something speaks every Monday: silence is not failure. */
function isQuiet({ options }: DigestSubscription, { notable }: ComposedDigest, day: Day): boolean {
  const isHeartbeat = dayLabel(day).startsWith('Mon');
  return options.quiet && options.period === 'day' && !notable && !isHeartbeat;
}

export interface Sending {
  readonly one: DigestSubscription;
  readonly begun: PostPermit;
  readonly room: Channel;
  readonly composed: ComposedDigest;
  readonly afterwards: With['afterwards'];
}

export async function send(context: DigestContext, sending: Sending): Promise<DigestPostOutcome> {
  const { one, begun, room, composed } = sending;
  let posting: PostResult;
  try {
    posting = await context.messenger.postToChannel(room.id, composed.message);
  } catch (error) {
    context.log.error({ err: error, digest: one.key }, 'nobody knows whether a digest was posted');
    await endUnknown(context, begun);
    return 'unknown';
  }
  if (!posting.ok) return notPosted(context, sending, posting);
  const { ts } = posting.at;
  await endPosted(context, begun, { ts, digest: one.key, said: composed.lastPosted });
  sending.afterwards(() => postThread(context, sending, ts));
  return 'posted';
}

async function notPosted(
  context: DigestContext,
  { one, begun, room }: Sending,
  { why, again }: Extract<PostResult, { ok: false }>,
): Promise<DigestPostOutcome> {
  if (again) {
    await context.database.transaction((tx) => withdrawDigest(tx, begun));
    return 'too-early';
  }
  await end(context, begun, 'missed', null);
  await reportMissed(context, one, {
    day: begun.day,
    why: `Slack refused it (${why})`,
    channel: `#${room.name}`,
  });
  return 'refused';
}

/** They are of use, but no reason to post anything twice, nor to try for long. */
async function postThread(context: DigestContext, sending: Sending, ts: string): Promise<boolean> {
  const { thread } = sending.composed;
  if (thread === null) return true;
  try {
    const posting = await context.messenger.postToChannel(sending.room.id, thread, ts);
    if (posting.ok) return true;
    context.log.warn({ why: posting.why }, 'the details of a digest were refused');
    return !posting.again;
  } catch (error) {
    context.log.warn({ err: error }, 'the details of a digest were not posted');
    return true;
  }
}

/** Slack takes about one message a second in each channel: those that came too early come again. */
const BREATH_MS = 1_500;

export async function postDetails(
  { pause }: Pick<DigestContext, 'pause'>,
  all: readonly Details[],
): Promise<void> {
  const early: Details[] = [];
  for (const post of all) {
    if (!(await post())) early.push(post);
  }
  if (early.length === 0) return;
  await pause(BREATH_MS);
  for (const post of early) await post();
}
