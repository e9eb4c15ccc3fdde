import { dayOf } from '../costs/calendar/day.ts';
import { note, traced } from '../observability/trace.ts';
import { lastDigests } from '../storage/tables/digests.ts';
import type { ChannelLookup } from '../workflow/messenger-port.ts';
import type { DigestContext, DueDigest } from './digest-context.ts';
import { type DigestData, gatherDigestData, lastFinalDayAt } from './gather.ts';
import { missOnce } from './missed.ts';
import { type Details, type DigestPostOutcome, postDetails, postDigest } from './post.ts';
import { checkSchedule, shouldWaitForFinalDays } from './schedule.ts';
import { loadSubscriptions } from './subscriptions/subscriptions.ts';
import { settleStuck } from './unknown-post.ts';

type To = Parameters<typeof postDigest>[2];

const AT_ONCE = 200;
/** Lanes are woken far more often than a digest can become due. */
const LOOK_MS = 30_000;
const AGAIN_MS = 30 * 60_000;

/**
 * One look at all digests, on every replica: what is due is posted by whoever gets the permit.
 */
export function createDigestRun(context: DigestContext): () => Promise<number> {
  // Only a brake on composing what waits for figures; whether it is posted is not decided here.
  const later = new Map<string, number>();
  const brake = { lookAt: Number.NEGATIVE_INFINITY };

  return async () => {
    const now = context.now();
    if (now.getTime() < brake.lookAt) return 0;
    brake.lookAt = now.getTime() + LOOK_MS;
    await settleStuck(context, now);
    const due = await dueNow(context, later, now);
    if (due.length === 0) return 0;
    const facts = { 'signalbox.due': due.length };
    await traced({ name: 'digests', facts }, () => postDue(context, later, due, now));
    return 0;
  };
}

async function postDue(
  context: DigestContext,
  later: Map<string, number>,
  due: readonly DueDigest[],
  now: Date,
): Promise<void> {
  const gathered = await gatherDigestData(context.database.db, {
    costs: context.costs,
    services: context.services(),
    now,
  });
  const ready = due.filter((each) => {
    if (!waits(each, gathered, now)) return true;
    later.set(each.one.key, now.getTime() + AGAIN_MS);
    return false;
  });
  const results = await postAll(context, ready.slice(0, AT_ONCE), gathered);
  for (const [key, result] of results) {
    if (SETTLED.includes(result)) later.set(key, now.getTime() + AGAIN_MS);
  }
}

/** What is due; what is too late for it is written down as missed, once, and told. */
async function dueNow(
  context: DigestContext,
  later: Map<string, number>,
  now: Date,
): Promise<readonly DueDigest[]> {
  const { db } = context.database;
  const { all, broken } = await loadSubscriptions(db, context);
  const last = await lastDigests(db);
  const isAwake = ({ key }: { readonly key: string }) => (later.get(key) ?? 0) <= now.getTime();
  const again = now.getTime() + AGAIN_MS;
  const due: DueDigest[] = [];
  for (const one of all.filter((each) => !each.paused && isAwake(each))) {
    const { day = null, at = null } = last.get(one.key) ?? {};
    const { next, ...turn } = checkSchedule(one, now, day);
    if (turn.state === 'due') due.push({ one, slot: turn.slot, next, before: at });
    if (turn.state !== 'missed') continue;
    await missOnce(context, one, { day: turn.slot.localDay, why: TOO_LATE });
    later.set(one.key, Math.min(again, next?.getTime() ?? again));
  }
  for (const one of broken.filter((each) => !each.paused && isAwake(each))) {
    await missOnce(context, one, { day: dayOf(now), why: one.problem });
    later.set(one.key, again);
  }
  return due;
}

const TOO_LATE =
  'for six hours Signalbox did not run, or Slack did not tell of the channel; ' +
  'the next one covers its days too';

function waits({ one, slot, before }: DueDigest, gathered: DigestData, now: Date): boolean {
  // What cannot be read now is not waited for: that it cannot be read is what has to be said.
  if (gathered.read.gaps.length > 0) return false;
  const finalBefore = before ? lastFinalDayAt(gathered, before) : null;
  return shouldWaitForFinalDays(one, slot, { now, states: gathered.states, finalBefore });
}

/** One after another, which keeps within what Slack takes; what it does not take now comes later. */
async function postAll(
  context: DigestContext,
  due: readonly DueDigest[],
  gathered: DigestData,
): Promise<ReadonlyMap<string, DigestPostOutcome>> {
  const results = new Map<string, DigestPostOutcome>();
  if (due.length === 0) return results;
  const channels = [...new Set(due.map(({ one }) => one.channel))];
  const rooms = await context.messenger.findChannels(channels);
  const threads: Details[] = [];
  for (const each of due) {
    const found = rooms.get(each.one.channel) ?? NOT_TOLD;
    const afterwards = (work: Details) => void threads.push(work);
    const to = { found, gathered, afterwards };
    const result = await traced({ name: 'digest' }, () => postOne(context, each, to));
    results.set(each.one.key, result);
    if (result === 'too-early') break;
  }
  await postDetails(context, threads);
  return results;
}

async function postOne(context: DigestContext, due: DueDigest, to: To): Promise<DigestPostOutcome> {
  const result = await postDigest(context, due, to).catch((error: unknown): DigestPostOutcome => {
    // What is wrong with one digest must not keep all others from their channels.
    context.log.error({ err: error, digest: due.one.key }, 'a digest failed and comes later');
    note({ 'error.type': 'failed' });
    return 'failed';
  });
  note({ 'signalbox.ending': result });
  return result;
}

/** With these nothing changes soon, whatever the next look finds. */
const SETTLED: readonly DigestPostOutcome[] = [
  'refused',
  'taken',
  'quiet',
  'posted',
  'unknown',
  'failed',
];

const NOT_TOLD: ChannelLookup = { ok: false, why: 'lookup-failed' };
