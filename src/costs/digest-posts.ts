/** Posts digests: when they are due, and when a user asks for one now. */
import type { Logger } from 'pino';
import { formatDay } from '../base/calendar.ts';
import { note, traced } from '../base/log.ts';
import { addDays, DAY_MS, type Day, dayOf, daysBetween, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import type { Slot } from '../base/weekly-times.ts';
import {
  type Answer,
  type Channel,
  type ChannelLookup,
  type Poster,
  textAnswer,
} from '../domain/answer.ts';
import type { ChannelId, Position } from '../domain/change.ts';
import { evolvePost, type LoggedPost } from '../domain/log-events.ts';
import { append, endWithoutPost, type PostOutcome, postAtMostOnce } from '../log/index.ts';
import { transaction } from '../storage/index.ts';
import { notice, postChannel, reportMissed } from './announcements.ts';
import { type ComposedDigest, composeDigest } from './digest.ts';
import {
  countElsewhere,
  type DigestData,
  type DigestFacts,
  type DigestSources,
  digestFacts,
  gatherDigestData,
  readLastPosted,
  storeLastPosted,
} from './digest-data.ts';
import { checkSchedule, coversNow, dayToReport } from './digest-schedule.ts';
import { capitalized } from './standing.ts';
import {
  type DigestSubscription,
  loadSubscriptions,
  type SubscriptionSources,
} from './subscriptions.ts';

export interface DigestContext extends SubscriptionSources, DigestSources {
  readonly messenger: Pick<Poster, 'postToChannel' | 'findPost' | 'findChannels'>;
  readonly log: Logger;
  readonly pause: (ms: number) => Promise<void>;
}

/** The loop wakes far more often than a digest can become due. */
const ROUND_EVERY_MS = 30_000;
/** Meanwhile other channels have their turn. */
const AGAIN_AFTER_MS = 5 * 60_000;

/** What this process remembers, so that it works less: the log decides what is posted. */
interface DigestMemory {
  /** When each digest is checked again. */
  readonly checkAgainAt: Map<string, number>;
  /** The day of the last post of each digest, or of the last quiet day; null: there was none. */
  readonly last: Map<string, Day | null>;
}

/** Returns the loop that posts due digests. Every replica runs it; the log lets one post. */
export function createDigestRun(context: DigestContext): () => Promise<unknown> {
  const memory: DigestMemory = { checkAgainAt: new Map(), last: new Map() };
  let nextRound = Number.NEGATIVE_INFINITY;

  return async () => {
    const now = context.now();
    if (now.getTime() < nextRound) return 'not-due';
    nextRound = now.getTime() + ROUND_EVERY_MS;
    const due = await findDue(context, memory, now);
    if (due.length === 0) return;
    const facts = { 'signalbox.due': due.length };
    await traced({ name: 'digests', facts }, () => postDue(context, memory, due, now));
  };
}

/** The due digests. Those that are too late, or whose options are invalid, are missed once. */
async function findDue(
  context: DigestContext,
  memory: DigestMemory,
  now: Date,
): Promise<readonly DueDigest[]> {
  const { all, broken } = await loadSubscriptions(context.events, context);
  const { checkAgainAt } = memory;
  const isChecked = ({ key, paused }: { readonly key: string; readonly paused: boolean }) =>
    !paused && (checkAgainAt.get(key) ?? 0) <= now.getTime();
  const again = now.getTime() + AGAIN_AFTER_MS;
  const due: DueDigest[] = [];
  for (const one of all.filter(isChecked)) {
    const last = await lastDigest(context, memory, one);
    const { next, ...check } = checkSchedule(one, now, last);
    if (check.state === 'waiting') continue;
    const { slot } = check;
    const post = await loadDigest(context, one.key, slot.localDay);
    if (post && ['posted', 'left-out'].includes(post.state)) {
      // Another process was faster.
      memory.last.set(one.key, slot.localDay);
      continue;
    }
    if (check.state === 'due' && post?.state !== 'missed') {
      const lastPosted = await readLastPosted(context.store, one.key).catch((err: unknown) => {
        context.log.error({ err, digest: one.key }, 'the last post of a digest is not readable');
        return null;
      });
      const reported = reportedDays({ one, slot, lastPosted }, now);
      if (reported) due.push({ one, slot, next, lastPosted, ...reported });
      continue;
    }
    if (check.state === 'missed') await missDigest(context, one, slot.localDay, TOO_LATE);
    checkAgainAt.set(one.key, Math.min(again, next?.getTime() ?? again));
  }
  for (const one of broken.filter(isChecked)) {
    await missDigest(context, one, dayOf(now), one.problem);
    checkAgainAt.set(one.key, again);
  }
  return due;
}

function digestStream(key: string, day: string) {
  return `digest/${key}/${day}` as const;
}

async function loadDigest(
  { events }: Pick<DigestContext, 'events'>,
  key: string,
  day: string,
): Promise<LoggedPost | null> {
  return (await events.load(digestStream(key, day), evolvePost)).state;
}

/**
 * Read once from the log: what this process posts later, and what it finds posted, is remembered. A post of a process
 * that crashed is looked for.
 */
async function lastDigest(
  context: DigestContext,
  { last }: DigestMemory,
  one: DigestSubscription,
): Promise<Day | null> {
  const known = last.get(one.key);
  if (known !== undefined) return known;
  const all = await context.events.loadAll(`digest/${one.key}`, evolvePost);
  let found: Day | null = null;
  for (const [stream, { state }] of all) {
    const day = stream.slice(digestStream(one.key, '').length);
    const isStuck = state?.state === 'posting';
    const outcome = isStuck ? await missDigest(context, one, day, STOPPED) : null;
    const isPosted =
      state?.state === 'posted' || state?.state === 'left-out' || outcome === 'found';
    if (isPosted && (!found || day > found)) found = day;
  }
  last.set(one.key, found);
  return found;
}

const STOPPED = 'Signalbox stopped or lost the connection while it posted';

/** Records and reports that a digest is missed, once. */
async function missDigest(
  context: DigestContext,
  one: Pick<DigestSubscription, 'key' | 'channel' | 'by'>,
  day: Day,
  why: string,
  channelName = one.channel,
): Promise<PostOutcome> {
  const stream = digestStream(one.key, day);
  const find = async () => {
    const found = (await context.messenger.findChannels([one.channel])).get(one.channel);
    const to = postChannel(found);
    if (!to.ok && to.again) throw new Error(to.why);
    return to.ok ? findDigest(context, to.channel.id, stream, day) : null;
  };
  const report = reportMissed(context.log, {
    subject: subjectOf(channelName, day),
    requester: one.by,
  });
  return endWithoutPost(context.events, stream, { why }, { find, reportMissed: report });
}

async function findDigest(
  { messenger }: Pick<DigestContext, 'messenger'>,
  channel: ChannelId,
  mark: string,
  day: string,
): Promise<Position | null> {
  // Midnight of the day in every time zone.
  const since = new Date(Date.parse(`${day.slice(0, 10)}T00:00:00Z`) - DAY_MS);
  return messenger.findPost({ channel, threadTs: undefined, since }, mark);
}

function subjectOf(channelName: string, day: string): string {
  return `the cost digest of ${channelName} for ${formatDay(day.slice(0, 10))}`;
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
  const last = dayToReport(slot, lastPosted?.day ?? null, now);
  if (last === null) return null;
  if (one.options.period === 'week')
    return { covers: { first: addDays(last, -6), last }, skipped: [] };
  const after = lastPosted === null ? slot.covers.first : addDays(lastPosted.day, 1);
  const first = after > slot.covers.first ? after : slot.covers.first;
  return { covers: { first: last, last }, skipped: daysBetween(first, addDays(last, -1)) };
}

const TOO_LATE = 'six hours passed since its time; the next digest covers these days too';

async function postDue(
  context: DigestContext,
  { checkAgainAt, last }: DigestMemory,
  due: readonly DueDigest[],
  now: Date,
): Promise<void> {
  const data = await gatherDigestData(context);
  const outcomes = await postAll(context, due, data);
  const isPosted = ({ one }: DueDigest) =>
    ['posted', 'found', 'quiet'].includes(outcomes.get(one.key) ?? '');
  for (const each of due.filter(isPosted)) last.set(each.one.key, each.slot.localDay);
  // What was missed is reported as missed, and what another process posts is not late.
  const isLate = ({ one, slot }: DueDigest) =>
    !['missed', 'taken'].includes(outcomes.get(one.key) ?? '') &&
    now.getTime() - slot.at.getTime() >= LATE_MS;
  const late = due.filter((each) => !isPosted(each) && isLate(each));
  if (late.length > 0) await reportLate(context, late, now);
  for (const [key, outcome] of outcomes) {
    // These are tried again in the next round.
    if (outcome === 'again' || outcome === 'lookup-failed') continue;
    checkAgainAt.set(key, now.getTime() + AGAIN_AFTER_MS);
  }
}

/** Most errors of Slack pass before. */
const LATE_MS = 10 * MINUTE_MS;

/** The operators read of late digests once an hour. */
async function reportLate({ events }: DigestContext, late: readonly DueDigest[], now: Date) {
  const channels = [...new Set(late.map(({ one }) => one.channel))].join(', ');
  const text = `The cost digest of ${channels} is 10 minutes late. Signalbox retries it for six hours. The log has the reason.`;
  const id = `late-digests-${Math.floor(now.getTime() / HOUR_MS)}`;
  await append(events, async (locked) => {
    const { version } = await locked.load(`notice/${id}`, () => null);
    return { ...(version > 0 ? { events: [] } : notice(text, locked.at, { id })), result: null };
  });
}

/** Posts one after another, and stops where Slack asks to wait: the rest follows in a later round. */
async function postAll(
  context: DigestContext,
  due: readonly DueDigest[],
  data: DigestData,
): Promise<ReadonlyMap<string, DigestPostOutcome>> {
  const outcomes = new Map<string, DigestPostOutcome>();
  const wanted = [...new Set(due.map(({ one }) => one.channel))];
  const channels = await context.messenger.findChannels(wanted);
  const threads: ThreadPost[] = [];
  for (const each of due) {
    const round = { found: channels.get(each.one.channel), data, threads };
    const outcome = await traced({ name: 'digest' }, () => postOrLog(context, each, round));
    outcomes.set(each.one.key, outcome);
    // Slack limits all of them: the others follow in the next round.
    if (outcome === 'again' || outcome === 'failed') break;
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
    context.log.error({ err: error, digest: due.one.key }, 'digest failed, retry in 5 minutes');
    note({ 'error.type': 'failed' });
    return 'failed' as const;
  });
  note({ 'signalbox.ending': outcome });
  return outcome;
}

/** The details of a digest that was posted, for its thread. */
interface ThreadPost {
  readonly subject: string;
  readonly channel: ChannelId;
  readonly ts: string;
  readonly thread: Answer;
}

interface PostingRound {
  /** Posted after all digests of the round. */
  readonly threads: ThreadPost[];
  readonly found: ChannelLookup | undefined;
  readonly data: DigestData;
}

/** Composes a due digest and posts it once, or records why it is not posted. */
async function postDigest(
  context: DigestContext,
  { one, slot, ...details }: DueDigest,
  { found, data, threads }: PostingRound,
): Promise<DigestPostOutcome> {
  const day = slot.localDay;
  const to = postChannel(found);
  if (!to.ok) {
    if (to.again) return 'lookup-failed';
    const channelName = found?.ok ? `#${found.room.name}` : one.channel;
    return missDigest(context, one, day, to.why, channelName);
  }
  const { channel } = to;
  const elsewhere = await countElsewhere(context, one.options, details.covers);
  const composed = composeDigest(digestFacts(one, { ...details, elsewhere }, data));
  const stream = digestStream(one.key, day);
  if (isQuiet(one, composed, day)) {
    const find = () => findDigest(context, channel.id, stream, day);
    const outcome = await endWithoutPost(context.events, stream, 'left-out', { find });
    return outcome === 'missed' ? 'quiet' : outcome;
  }
  return postComposed(context, { one, stream, day, channel, composed, threads, isScheduled: true });
}

/** A quiet digest is posted on Mondays even if nothing is notable, so that silence is no failure. */
function isQuiet({ options }: DigestSubscription, { notable }: ComposedDigest, day: Day): boolean {
  const isMonday = formatDay(day).startsWith('Mon');
  return options.quiet && options.period === 'day' && !notable && !isMonday;
}

interface ComposedPost extends Pick<PostingRound, 'threads'> {
  readonly one: DigestSubscription;
  readonly stream: `digest/${string}`;
  /** The local day of the channel; for *Post now*, the minute. */
  readonly day: string;
  readonly channel: Channel;
  readonly composed: ComposedDigest;
  /** Whether the next digest is compared with this one. */
  readonly isScheduled: boolean;
}

async function postComposed(
  context: DigestContext,
  { one, stream, day, channel, composed, isScheduled, threads }: ComposedPost,
): Promise<PostOutcome> {
  const { message: answer, thread, lastPosted: figures } = composed;
  const { events, messenger, store, log } = context;
  const result = { at: null as Position | null };
  const outcome = await postAtMostOnce(events, stream, {
    find: () => findDigest(context, channel.id, stream, day),
    post: async () => {
      const posted = await messenger.postToChannel(channel.id, answer, undefined, stream);
      if (posted.ok) result.at = posted.at;
      return posted;
    },
    reportMissed: reportMissed(log, {
      subject: subjectOf(`#${channel.name}`, day),
      requester: one.by,
    }),
  });
  if (outcome !== 'posted') return outcome;
  if (isScheduled && figures)
    await transaction(store, (tx) => storeLastPosted(tx, one.key, figures));
  const ts = result.at?.ts;
  const subject = subjectOf(`#${channel.name}`, day);
  if (thread !== null && ts !== undefined)
    threads.push({ channel: channel.id, ts, thread, subject });
  return outcome;
}

/** Slack accepts about one message per second and channel; refused threads are tried once again. */
const RETRY_AFTER_MS = 1_500;

async function postThreads(context: DigestContext, all: readonly ThreadPost[]): Promise<void> {
  const refused: ThreadPost[] = [];
  for (const one of all) if (!(await postThread(context, one))) refused.push(one);
  if (refused.length === 0) return;
  await context.pause(RETRY_AFTER_MS);
  for (const one of refused) await postThread(context, one);
}

/** False: Slack asks to wait. The digest is posted already, so that a lost thread is logged only. */
async function postThread(
  { messenger, log, events }: DigestContext,
  { channel, ts, thread, subject }: ThreadPost,
): Promise<boolean> {
  try {
    const posted = await messenger.postToChannel(channel, thread, ts);
    if (posted.ok) return true;
    log.warn({ why: posted.why }, 'thread of a digest was refused');
    if (posted.again) return false;
    const text = `The table of ${subject} was not posted: Slack refused it (${posted.why}).`;
    await append(events, async ({ at }) => ({ ...notice(text, at), result: null }));
    return true;
  } catch (error) {
    log.warn({ err: error }, 'thread of a digest was not posted');
    return true;
  }
}

type DigestPostOutcome = PostOutcome | 'quiet' | 'lookup-failed' | 'failed';

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
  const day = context.now().toISOString().slice(0, 16);
  const stream = digestStream(`${one.key}|now`, day);
  const threads: ThreadPost[] = [];
  const post = { one, stream, day, channel, composed, threads, isScheduled: false };
  const outcome = await postComposed(context, post).catch((error: unknown) => {
    context.log.error({ err: error, digest: one.key }, 'outcome of a post is unknown');
    return 'unknown' as const;
  });
  await postThreads(context, threads);
  return outcomeAnswer(outcome);
}

const NOT_POSTED: ReadonlyMap<DigestPostOutcome | 'unknown', string> = new Map([
  ['taken', 'it was posted less than a minute ago.'],
  ['missed', 'Slack refused the message.'],
  ['unknown', 'outcome unknown. Check the channel before you try again.'],
]);
const TRY_AGAIN =
  'Slack did not answer, or limits the messages of this channel. Try again in a minute.';

function outcomeAnswer(outcome: DigestPostOutcome | 'unknown'): Answer {
  if (outcome === 'posted' || outcome === 'found')
    return textAnswer('Posted', 'The scheduled one is still sent.');
  return notPosted(NOT_POSTED.get(outcome) ?? TRY_AGAIN);
}

function notPosted(text: string): Answer {
  return textAnswer('Not posted', capitalized(text));
}

/** The same digest as in the channel, only visible to the user who requests it. */
export async function previewDigest(
  context: DigestContext,
  one: DigestSubscription,
): Promise<Answer> {
  const { message, thread } = await composeNow(context, one, !one.paused);
  const note = {
    kind: 'note',
    text: `Preview${one.paused ? ', not scheduled' : ''}: only visible to you. The figures and the table are posted into the thread.`,
  } as const;
  return { title: message.title, parts: [...message.parts, ...(thread?.parts ?? []), note] };
}

/** The digest as of now; `hasNext`: whether it shows when the next one is due. */
async function composeNow(context: DigestContext, one: DigestSubscription, hasNext: boolean) {
  const now = context.now();
  const data = await gatherDigestData(context);
  const lastPosted = await readLastPosted(context.store, one.key);
  const next = hasNext ? checkSchedule(one, now, null).next : null;
  const covers = coversNow(one, now);
  const elsewhere = await countElsewhere(context, one.options, covers);
  const details = { covers, skipped: [], next, lastPosted, elsewhere };
  return composeDigest(digestFacts(one, details, data));
}
