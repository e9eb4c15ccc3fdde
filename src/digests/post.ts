import { formatDay } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import type { Channel, ChannelLookup } from '../domain/answer.ts';
import {
  endWithoutPost,
  missOnce,
  type PostOnceResult,
  type PostRecord,
  postChannel,
  postOncePerRecord,
} from '../workflow/notify/post-once.ts';
import { type ComposedDigest, composeDigest } from './compose.ts';
import type { DigestContext, DueDigest } from './digest-context.ts';
import { type DigestData, digestFacts } from './gather.ts';
import { readLastPosted } from './last-posted.ts';
import { digestRecord } from './post-record.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

export type DigestPostOutcome = PostOnceResult['outcome'] | 'quiet' | 'lookup-failed' | 'failed';

/** Posts the table into the thread of a digest. False: Slack asks to wait. */
export type ThreadPost = () => Promise<boolean>;

interface PostingRound {
  readonly found: ChannelLookup | undefined;
  readonly data: DigestData;
  /** Tables are posted after all digests of the round. */
  readonly afterwards: (work: ThreadPost) => void;
}

/** Composes a due digest and posts it once, or stores why it is not posted. */
export async function postDigest(
  context: DigestContext,
  { one, slot, next }: DueDigest,
  { found, data, afterwards }: PostingRound,
): Promise<DigestPostOutcome> {
  const day = slot.localDay;
  const to = postChannel(found);
  if (!to.ok) {
    if (to.again) return 'lookup-failed';
    const channelName = found?.ok ? `#${found.room.name}` : one.channel;
    await missOnce(context, digestRecord(context, one, { day, channelName }), to.why);
    return 'refused';
  }
  const { channel } = to;
  const attention = await context.attention(one, data);
  const lastPosted = await readLastPosted(context.database.db, one.key);
  const { covers } = slot;
  const composed = composeDigest(digestFacts(one, { covers, next, lastPosted, attention }, data));
  const channelName = `#${channel.name}`;
  const figures = composed.lastPosted;
  const record = digestRecord(context, one, { day, channelName, figures });
  if (isQuiet(one, composed, day)) {
    const isFirst = await endWithoutPost(context, record, { state: 'posted', at: null });
    return isFirst ? 'quiet' : 'taken';
  }
  return postComposed(context, { record, channel, composed, afterwards });
}

/** A quiet digest is posted on Mondays even if nothing is notable, so that silence is no failure. */
function isQuiet({ options }: DigestSubscription, { notable }: ComposedDigest, day: Day): boolean {
  const isMonday = formatDay(day).startsWith('Mon');
  return options.quiet && options.period === 'day' && !notable && !isMonday;
}

interface ComposedPost extends Pick<PostingRound, 'afterwards'> {
  readonly record: PostRecord;
  readonly channel: Channel;
  readonly composed: ComposedDigest;
}

export async function postComposed(
  context: DigestContext,
  { record, channel, composed, afterwards }: ComposedPost,
): Promise<DigestPostOutcome> {
  const { message: answer, thread } = composed;
  const result = await postOncePerRecord(context, record, {
    to: channel.id,
    answer,
    canRetry: true,
  });
  if (result.outcome !== 'posted' || thread === null) return result.outcome;
  const { ts } = result.at;
  afterwards(async () => {
    try {
      const posted = await context.messenger.postToChannel(channel.id, thread, ts);
      if (posted.ok) return true;
      context.log.warn({ why: posted.why }, 'thread of a digest was refused');
      return !posted.again;
    } catch (error) {
      // The digest is posted already, so a lost table is not retried.
      context.log.warn({ err: error }, 'thread of a digest was not posted');
      return true;
    }
  });
  return 'posted';
}

/** Slack accepts about one message per second and channel; refused tables are retried once. */
const RETRY_AFTER_MS = 1_500;

export async function postThreads(
  { pause }: Pick<DigestContext, 'pause'>,
  all: readonly ThreadPost[],
): Promise<void> {
  const refused: ThreadPost[] = [];
  for (const post of all) {
    if (!(await post())) refused.push(post);
  }
  if (refused.length === 0) return;
  await pause(RETRY_AFTER_MS);
  for (const post of refused) await post();
}
