import { note, traced } from '../base/log.ts';
import { dayOf } from '../base/time.ts';
import { lastSettledAt } from '../maths/days.ts';
import { lastDigests } from '../storage/tables/digests.ts';
import { missOnce } from '../workflow/notify/post-once.ts';
import type { DigestContext, DueDigest } from './digest-context.ts';
import { type DigestData, gatherDigestData } from './gather.ts';
import { type DigestPostOutcome, postDigest, postThreads, type ThreadPost } from './post.ts';
import { digestRecord, endStuckDigests } from './post-record.ts';
import { checkSchedule, shouldWaitForDays } from './schedule.ts';
import { loadSubscriptions } from './subscriptions/subscriptions.ts';

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
    const { day = null, at = null } = last.get(one.key) ?? {};
    const { next, ...check } = checkSchedule(one, now, day);
    if (check.state === 'due') due.push({ one, slot: check.slot, next, before: at });
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

const TOO_LATE =
  'Signalbox did not run for six hours, or Slack did not answer the channel lookup; ' +
  'the next digest covers these days too';

async function postDue(
  context: DigestContext,
  checkAgainAt: CheckAgainAt,
  due: readonly DueDigest[],
  now: Date,
): Promise<void> {
  const services = context.services();
  const data = await gatherDigestData(context.database.db, { ...context, services, now });
  const waiting = due.filter((one) => isWaiting(one, data, now));
  const ready = due.filter((one) => !waiting.includes(one));
  const outcomes = await postAll(context, ready.slice(0, POSTS_PER_ROUND), data);
  const settled = [...outcomes].filter(([, outcome]) => !RETRIED.includes(outcome));
  for (const key of [...waiting.map(({ one }) => one.key), ...settled.map(([key]) => key)]) {
    checkAgainAt.set(key, now.getTime() + AGAIN_AFTER_MS);
  }
}

/** These outcomes are tried again in the next round. */
const RETRIED: readonly DigestPostOutcome[] = ['rate-limited', 'lookup-failed'];

function isWaiting({ one, slot, before }: DueDigest, data: DigestData, now: Date): boolean {
  // A failed read of the usage report is reported now.
  if (data.read.gaps.length > 0) return false;
  const settledBefore = before ? lastSettledAt(data.snapshots, before) : null;
  return shouldWaitForDays(one, slot, {
    now,
    states: data.states,
    lockAge: data.read.lockAge,
    settledBefore,
  });
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
