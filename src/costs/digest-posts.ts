/** Posts digests: when they are due, and when a user asks for one now. */
import type { Logger } from 'pino';
import { formatDay } from '../base/calendar.ts';
import { note, traced } from '../base/log.ts';
import { addDays, type Day, dayOf, daysBetween } from '../base/time.ts';
import type { Slot } from '../base/weekly-times.ts';
import {
  type Answer,
  type AnswerPart,
  type Channel,
  type ChannelLookup,
  type Poster,
  textAnswer,
} from '../domain/answer.ts';
import type { ChannelId } from '../domain/change.ts';
import {
  endUnknown,
  endWithoutPost,
  missOnce,
  type PostOnceResult,
  type PostRecord,
  postChannel,
  postOncePerRecord,
  STUCK_AFTER_MS,
} from '../log/old/post-once.ts';
import {
  finishDigest,
  lastDigests,
  permitDigest,
  takeOverDigest,
  unfinishedDigests,
  withdrawDigest,
} from '../storage/old/digests.ts';
import { type ComposedDigest, composeDigest } from './digest.ts';
import {
  type DigestData,
  type DigestFacts,
  type DigestSources,
  digestFacts,
  gatherDigestData,
  type LastPosted,
  readLastPosted,
  storeLastPosted,
} from './digest-data.ts';
import { checkSchedule, coversNow, dayToReport, waitsForMonth } from './digest-schedule.ts';
import {
  type DigestSubscription,
  loadSubscriptions,
  type SubscriptionSources,
} from './subscriptions.ts';

export interface DigestContext extends SubscriptionSources, DigestSources {
  readonly messenger: Pick<Poster, 'postToChannel' | 'findChannels'>;
  readonly log: Logger;
  readonly pause: (ms: number) => Promise<void>;
  /** The id of this process. */
  readonly instance: string;
}

const POSTS_PER_ROUND = 200;
/** The loop wakes far more often than a digest can become due. */
const ROUND_EVERY_MS = 30_000;
const AGAIN_AFTER_MS = 30 * 60_000;

/** When each digest is checked again. It only limits work: the records decide what is posted. */
type CheckAgainAt = Map<string, number>;

/** Returns the loop that posts due digests. Every replica runs it; the record lets one post. */
export function createDigestRun(context: DigestContext): () => Promise<number> {
  const checkAgainAt: CheckAgainAt = new Map();
  let nextRound = Number.NEGATIVE_INFINITY;

  return async () => {
    const now = context.now();
    if (now.getTime() < nextRound) return 0;
    nextRound = now.getTime() + ROUND_EVERY_MS;
    await endStuckDigests(context, now);
    const due = await findDue(context, checkAgainAt, now);
    if (due.length === 0) return 0;
    const facts = { 'signalbox.due': due.length };
    await traced({ name: 'digests', facts }, () => postDue(context, checkAgainAt, due, now));
    return 0;
  };
}

/** Ends the records of processes that crashed: whether they posted is unknown. */
async function endStuckDigests(context: DigestContext, now: Date): Promise<void> {
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

/** The due digests. Those that are too late, or whose options are invalid, are missed once. */
async function findDue(
  context: DigestContext,
  checkAgainAt: CheckAgainAt,
  now: Date,
): Promise<readonly DueDigest[]> {
  const { db } = context.database;
  const { all, broken } = await loadSubscriptions(db, context);
  const last = await lastDigests(db);
  const isChecked = ({ key, paused }: { readonly key: string; readonly paused: boolean }) =>
    !paused && (checkAgainAt.get(key) ?? 0) <= now.getTime();
  const again = now.getTime() + AGAIN_AFTER_MS;
  const due: DueDigest[] = [];
  for (const one of all.filter(isChecked)) {
    const { day = null } = last.get(one.key) ?? {};
    const { next, ...check } = checkSchedule(one, now, day);
    if (check.state === 'due') {
      const lastPosted = await readLastPosted(db, one.key).catch((err: unknown) => {
        context.log.error({ err, digest: one.key }, 'the last post of a digest is not readable');
        return null;
      });
      const reported = reportedDays({ one, slot: check.slot, lastPosted }, now);
      if (reported) due.push({ one, slot: check.slot, next, lastPosted, ...reported });
    }
    if (check.state !== 'missed') continue;
    await missOnce(context, digestRecord(context, one, { day: check.slot.localDay }), TOO_LATE);
    checkAgainAt.set(one.key, Math.min(again, next?.getTime() ?? again));
  }
  for (const one of broken.filter(isChecked)) {
    await missOnce(context, digestRecord(context, one, { day: dayOf(now) }), one.problem);
    checkAgainAt.set(one.key, again);
  }
  return due;
}

interface DueDigest extends Pick<DigestFacts, 'covers' | 'skipped' | 'next' | 'lastPosted'> {
  readonly one: DigestSubscription;
  readonly slot: Slot;
}

/** The days that a digest reports now, and those that it skipped; null while its day is not over. */
function reportedDays(
  { one, slot, lastPosted }: Pick<DueDigest, 'one' | 'slot' | 'lastPosted'>,
  now: Date,
): Pick<DigestFacts, 'covers' | 'skipped'> | null {
  const { period } = one.options;
  if (period === 'month') return { covers: slot.covers, skipped: [] };
  const last = dayToReport(slot, lastPosted?.day ?? null, now);
  if (last === null) return null;
  if (period === 'week') return { covers: { first: addDays(last, -6), last }, skipped: [] };
  const after = lastPosted === null ? slot.covers.first : addDays(lastPosted.day, 1);
  const first = after > slot.covers.first ? after : slot.covers.first;
  return { covers: { first: last, last }, skipped: daysBetween(first, addDays(last, -1)) };
}

const TOO_LATE =
  'Signalbox did not run for six hours, or Slack did not answer the channel lookup; ' +
  'the next digest covers these days too';

async function postDue(
  context: DigestContext,
  checkAgainAt: CheckAgainAt,
  due: readonly DueDigest[],
  now: Date,
): Promise<void> {
  const data = await gatherDigestData(context);
  const waiting = due.filter((one) => isWaiting(one, data));
  const ready = due.filter((one) => !waiting.includes(one));
  const outcomes = await postAll(context, ready.slice(0, POSTS_PER_ROUND), data);
  const settled = [...outcomes].filter(([, outcome]) => !RETRIED.includes(outcome));
  for (const key of [...waiting.map(({ one }) => one.key), ...settled.map(([key]) => key)]) {
    checkAgainAt.set(key, now.getTime() + AGAIN_AFTER_MS);
  }
}

/** These outcomes are tried again in the next round. */
const RETRIED: readonly DigestPostOutcome[] = ['rate-limited', 'lookup-failed'];

function isWaiting({ one, slot }: DueDigest, { read, states }: DigestData): boolean {
  // A failed read of the usage report is reported now.
  return read.gaps.length === 0 && waitsForMonth(one, slot, states);
}

/** Posts one after another, and stops at the first rate limit: the rest follows in a later round. */
async function postAll(
  context: DigestContext,
  due: readonly DueDigest[],
  data: DigestData,
): Promise<ReadonlyMap<string, DigestPostOutcome>> {
  const outcomes = new Map<string, DigestPostOutcome>();
  if (due.length === 0) return outcomes;
  const wanted = [...new Set(due.map(({ one }) => one.channel))];
  const channels = await context.messenger.findChannels(wanted);
  const threads: ThreadPost[] = [];
  const afterwards = (post: ThreadPost) => void threads.push(post);
  for (const each of due) {
    const round = { found: channels.get(each.one.channel), data, afterwards };
    const outcome = await traced({ name: 'digest' }, () => postOrLog(context, each, round));
    outcomes.set(each.one.key, outcome);
    if (outcome === 'rate-limited') break;
  }
  await postThreads(context, threads);
  return outcomes;
}

async function postOrLog(
  context: DigestContext,
  due: DueDigest,
  round: Parameters<typeof postDigest>[2],
): Promise<DigestPostOutcome> {
  const outcome = await postDigest(context, due, round).catch((error: unknown) => {
    // An error in one digest must not stop the others.
    context.log.error({ err: error, digest: due.one.key }, 'digest failed, retry in 30 minutes');
    note({ 'error.type': 'failed' });
    return 'failed' as const;
  });
  note({ 'signalbox.ending': outcome });
  return outcome;
}

interface PostingRound {
  readonly found: ChannelLookup | undefined;
  readonly data: DigestData;
  /** Tables are posted after all digests of the round. */
  readonly afterwards: (work: ThreadPost) => void;
}

/** Composes a due digest and posts it once, or stores why it is not posted. */
async function postDigest(
  context: DigestContext,
  { one, slot, ...details }: DueDigest,
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
  const composed = composeDigest(digestFacts(one, details, data));
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

async function postComposed(
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

async function postThreads(
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

type DigestPostOutcome = PostOnceResult['outcome'] | 'quiet' | 'lookup-failed' | 'failed';

/** Posts the table into the thread of a digest. False: Slack asks to wait. */
type ThreadPost = () => Promise<boolean>;

/** Posts a digest now, at most once per minute. */
export async function postDigestNow(
  context: DigestContext,
  one: DigestSubscription,
): Promise<Answer> {
  const found = (await context.messenger.findChannels([one.channel])).get(one.channel);
  const to = postChannel(found);
  if (!to.ok) return to.again ? outcomeAnswer('lookup-failed') : notPosted(`${to.why}.`);
  const { channel } = to;
  const composed = await composeNow(context, one, !one.paused);
  const record = digestRecord(context, one, {
    key: `${one.key}|now`,
    day: context.now().toISOString().slice(0, 16),
    channelName: `#${channel.name}`,
  });
  const threads: ThreadPost[] = [];
  const afterwards = (post: ThreadPost) => void threads.push(post);
  const outcome = await postComposed(context, { record, channel, composed, afterwards });
  await postThreads(context, threads);
  return outcomeAnswer(outcome);
}

const TEXTS: Readonly<Record<DigestPostOutcome, string>> = {
  posted: 'The scheduled one is still sent.',
  quiet: 'Nothing notable, so nothing was posted.',
  taken: 'It was posted less than a minute ago.',
  refused: 'Slack refused the message.',
  'rate-limited': 'Slack limits the messages of this channel. Try again in a minute.',
  unknown: 'Outcome unknown. Check the channel before you try again.',
  failed: 'Internal error of Signalbox.',
  'lookup-failed': 'Slack did not answer the channel lookup. Try again in a minute.',
};

function outcomeAnswer(outcome: DigestPostOutcome): Answer {
  return outcome === 'posted' ? textAnswer('Posted', TEXTS.posted) : notPosted(TEXTS[outcome]);
}

function notPosted(text: string): Answer {
  return textAnswer('Not posted', `${text.charAt(0).toUpperCase()}${text.slice(1)}`);
}

/** The same digest as in the channel, only visible to the user who requests it. */
export async function previewDigest(
  context: DigestContext,
  one: DigestSubscription,
  status: PreviewStatus,
): Promise<Answer> {
  const { message, thread } = await composeNow(context, one, status === 'scheduled');
  const note = {
    kind: 'note',
    text: 'Preview: only visible to you. The figures and the table are posted into the thread.',
  } as const;
  const parts = [...message.parts, ...(thread?.parts ?? []), ...NOT_SCHEDULED[status], note];
  return { title: message.title, parts };
}

/** Whether the previewed digest is scheduled. */
type PreviewStatus = 'scheduled' | 'paused' | 'not-added';

const NOT_SCHEDULED: Readonly<Record<PreviewStatus, readonly AnswerPart[]>> = {
  scheduled: [],
  paused: [{ kind: 'text', text: 'This digest is paused. Resume it to get posts.' }],
  'not-added': [
    { kind: 'text', text: 'No such digest exists yet. Add it to get posts.' },
    { kind: 'offers', offers: [{ label: 'Add a digest', line: 'cost digest add' }] },
  ],
};

/** The digest as of now; `hasNext`: whether it shows when the next one is due. */
async function composeNow(context: DigestContext, one: DigestSubscription, hasNext: boolean) {
  const now = context.now();
  const data = await gatherDigestData(context);
  const lastPosted = await readLastPosted(context.database.db, one.key);
  const next = hasNext ? checkSchedule(one, now, null).next : null;
  const details = { covers: coversNow(one, now), skipped: [], next, lastPosted };
  return composeDigest(digestFacts(one, details, data));
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

interface DigestPost {
  /** The local day of the channel; for *Post now*, the minute. */
  readonly day: string;
  /** The key of the record: that of the digest, or another one for *Post now*. */
  readonly key?: string;
  /** The name of the channel, if known. */
  readonly channelName?: string;
  /** Stored when the digest is posted, for the comparison in the next one. */
  readonly figures?: LastPosted | null;
}
