import { z } from 'zod';
import type { ChannelId, Position } from '../../changes/change.ts';
import type { Answer } from '../../intent/answers/answer.ts';
import type { Db, Tx } from '../../storage/engine/database.ts';
import { dropMeta, metaUnder, readMeta, replaceMeta } from '../../storage/tables/meta.ts';
import {
  type claimDueMessages,
  enqueue,
  markDone,
  retryMessageAt,
} from '../../storage/tables/queues/outbox.ts';
import type { PostResult } from '../messenger-port.ts';
import type { DecisionContext } from '../ports.ts';

export const REPORT = 'report';
export const REDRAW = 'redraw';
const RETRY_MS = 30_000;
const GIVE_UP_AFTER = 20;

// Made by our own composers and stored as a whole; its words are literal wherever they are shown.
const Composed = z.custom<Answer>(
  (value) => typeof value === 'object' && value !== null && 'parts' in value,
);
const StoredAnnouncement = z.object({
  key: z.string(),
  channel: z.string(),
  thread: z.string().nullable(),
  answer: Composed,
});

/** A message that stands for itself. Its key is posted at most once, by whichever replica. */
export interface Announcement {
  readonly key: string;
  readonly channel: string;
  /** The key of the report in whose thread it belongs, where that one was posted. */
  readonly thread: string | null;
  readonly answer: Answer;
}

type Row = Awaited<ReturnType<typeof claimDueMessages>>[number];

export async function enqueueReport(tx: Tx, report: Announcement, at: Date): Promise<void> {
  const { key, channel, thread, answer } = report;
  // An answer is JSON but for its dates, which these reports spell out.
  const body = { key, channel, thread, answer: JSON.parse(JSON.stringify(answer)) };
  await enqueue(tx, { kind: REPORT, body, at });
}

/**
 * The permit to post is committed before the post: nothing could draw a second one over the first.
 * Only what was surely not posted is tried again; after a crash nobody knows, and it stays so.
 */
export async function deliverReport(context: DecisionContext, row: Row): Promise<void> {
  const report = StoredAnnouncement.parse(row.body);
  const room = await roomOf(context, report.channel);
  const permit = { key: keyOf(report.key), value: `${SENDING} ${context.now().toISOString()}` };
  const mine = await context.database.transaction((tx) =>
    replaceMeta(tx, permit.key, null, permit.value),
  );
  if (!mine) {
    context.log.warn({ report: report.key }, 'a report was begun before and is not posted again');
    return done(context, row);
  }
  const posted = room.ok ? await post(context, report, room.id) : room;
  if (posted.ok) return keep(context, row, permit, posted.at);
  const { why, again } = posted;
  context.log.warn({ report: report.key, why, again }, 'a report was not posted');
  if (!again || row.attempts >= GIVE_UP_AFTER) return done(context, row);
  await context.database.transaction(async (tx) => {
    await dropMeta(tx, permit.key);
    await retryMessageAt(tx, row.id, new Date(context.now().getTime() + RETRY_MS));
  });
}

const SENDING = 'sending';
const POSTS = 'post:';

function keyOf(report: string): string {
  return `${POSTS}${report}`;
}

/** Costs never go where people of another workspace read along. */
async function roomOf(context: DecisionContext, channel: string) {
  const found = (await context.messenger.findChannels([channel])).get(channel);
  const no = { ok: false, again: false } as const;
  if (!found?.ok) return { ...no, why: 'no channel', again: found?.why === 'lookup-failed' };
  if (found.room.outside) return { ...no, why: 'shared with another workspace' };
  return { ok: true, id: found.room.id } as const;
}

async function post(
  context: DecisionContext,
  { answer, thread }: Announcement,
  to: ChannelId,
): Promise<PostResult> {
  try {
    const above = thread ? await positionOf(context, thread) : null;
    const inThread = above?.channel === to ? above.ts : undefined;
    return await context.messenger.postToChannel(to, answer, inThread);
  } catch (error) {
    context.log.error({ err: error }, 'nobody knows whether a report was posted');
    return { ok: false, why: 'no answer', again: false };
  }
}

const Place = z.object({
  channel: z.string().transform((id) => id as ChannelId),
  ts: z.string(),
});

/** Where the report of this key stands; null while it does not. */
export async function positionOf(context: DecisionContext, key: string): Promise<Position | null> {
  const value = await readMeta(context.database.db, keyOf(key));
  return value === null ? null : placeOf(value);
}

function placeOf(value: string): Position | null {
  return value.startsWith(SENDING) ? null : Place.parse(JSON.parse(value));
}

/** The keys of all reports that stand in a channel and begin with these words. */
export async function standingUnder(db: Db, words: string): Promise<readonly string[]> {
  const all = await metaUnder(db, keyOf(words));
  const standing = all.filter(({ value }) => placeOf(value) !== null);
  return standing.map(({ key }) => key.slice(POSTS.length));
}

interface Permit {
  readonly key: string;
  readonly value: string;
}

async function keep(context: DecisionContext, row: Row, permit: Permit, { channel, ts }: Position) {
  await context.database.transaction(async (tx) => {
    await replaceMeta(tx, permit.key, permit.value, JSON.stringify({ channel, ts }));
    await markDone(tx, row.id, context.now());
  });
}

async function done(context: DecisionContext, row: Row): Promise<void> {
  await context.database.transaction((tx) => markDone(tx, row.id, context.now()));
}

const Redraw = StoredAnnouncement.pick({ key: true, answer: true });

/** A report that stands in its channel is drawn anew; one that does not is left to be posted. */
export async function enqueueRedraw(
  tx: Tx,
  { key, answer }: Pick<Announcement, 'key' | 'answer'>,
  at: Date,
): Promise<void> {
  const body = { key, answer: JSON.parse(JSON.stringify(answer)) };
  await enqueue(tx, { kind: REDRAW, body, at });
}

/** Drawn twice it looks the same, so that whoever is not sure draws again. */
export async function deliverRedraw(context: DecisionContext, row: Row): Promise<void> {
  const { key, answer } = Redraw.parse(row.body);
  const at = await positionOf(context, key);
  const drawn = at ? await context.messenger.updateMessage(at, answer) : null;
  if (!drawn || drawn.ok) return done(context, row);
  context.log.warn({ report: key, why: drawn.why }, 'a report was not drawn anew');
  if (!drawn.again || row.attempts >= GIVE_UP_AFTER) return done(context, row);
  const later = new Date(context.now().getTime() + RETRY_MS);
  await context.database.transaction((tx) => retryMessageAt(tx, row.id, later));
}

/** An incident is followed for 120 days, and its messages may be asked for as long. */
const KEPT_MS = 180 * 86_400_000;

/** Forgets where old reports stand. Nothing that waits is as old as that. */
export async function pruneReports(tx: Tx, now: Date): Promise<void> {
  const before = now.getTime() - KEPT_MS;
  for (const { key, value } of await metaUnder(tx, POSTS)) {
    if (beganAt(value) < before) await dropMeta(tx, key);
  }
}

/** Slack names a message by the second in which it was posted. */
function beganAt(value: string): number {
  const place = placeOf(value);
  return place ? Number(place.ts) * 1_000 : Date.parse(value.slice(SENDING.length + 1));
}
