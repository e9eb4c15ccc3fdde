import { z } from 'zod';
import type { ChannelId, Position } from '../../changes/change.ts';
import type { Answer } from '../../intent/answers/answer.ts';
import type { Db, Tx } from '../../storage/engine/database.ts';
import { dropMeta, metaUnder, readMeta, replaceMeta } from '../../storage/tables/meta.ts';
import {
  type DueMessage,
  enqueue,
  markDone,
  retryMessageAt,
} from '../../storage/tables/queues/outbox.ts';
import type { ReportMessage } from '../../storage/tables/queues/outbox-message.ts';
import type { PostResult } from '../messenger-port.ts';
import type { DecisionContext } from '../ports.ts';

const RETRY_MS = 30_000;
const GIVE_UP_AFTER = 20;

// Composed and stored by Signalbox, so that only its outer shape is checked.
const StoredAnswer = z.custom<Answer>(
  (value) => typeof value === 'object' && value !== null && 'parts' in value,
);
const StoredAnnouncement = z.object({
  key: z.string(),
  channel: z.string(),
  thread: z.string().nullable(),
  answer: StoredAnswer,
});

/** A message of its own, which is posted at most once per key, by any replica. */
export interface Announcement {
  readonly key: string;
  readonly channel: string;
  /** The key of the announcement whose thread it is posted into, if that one was posted. */
  readonly thread: string | null;
  readonly answer: Answer;
}

export async function enqueueReport(tx: Tx, report: Announcement, at: Date): Promise<void> {
  const { key, channel, thread, answer } = report;
  // An answer is JSON except for dates, and announcements contain none.
  const body = { key, channel, thread, answer: JSON.parse(JSON.stringify(answer)) };
  await enqueue(tx, { kind: 'report', body, at });
}

/**
 * Posts one announcement. The permit is committed before the post, so that a crash cannot cause a
 * second one. Signalbox retries only after a definite refusal.
 */
export async function deliverReport(
  context: DecisionContext,
  row: DueMessage,
  { body }: ReportMessage,
): Promise<void> {
  const report = StoredAnnouncement.parse(body);
  const channel = await channelOf(context, report.channel);
  const permit = { key: keyOf(report.key), value: `${SENDING} ${context.now().toISOString()}` };
  const isOwn = await context.database.transaction((tx) =>
    replaceMeta(tx, permit.key, null, permit.value),
  );
  if (!isOwn) {
    context.log.warn(
      { report: report.key },
      'announcement was attempted before and is not posted again',
    );
    return done(context, row);
  }
  const posted = channel.ok ? await post(context, report, channel.id) : channel;
  if (posted.ok) return storePosition(context, row, permit, posted.at);
  const { why, again } = posted;
  context.log.warn({ report: report.key, why, again }, 'announcement was not posted');
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

/** Refuses channels that are shared with another workspace, because they must not show costs. */
async function channelOf(context: DecisionContext, channel: string) {
  const found = (await context.messenger.findChannels([channel])).get(channel);
  const refused = { ok: false, again: false } as const;
  if (!found?.ok) return { ...refused, why: 'no channel', again: found?.why === 'lookup-failed' };
  if (found.room.outside) return { ...refused, why: 'shared with another workspace' };
  return { ok: true, id: found.room.id } as const;
}

async function post(
  context: DecisionContext,
  { answer, thread }: Announcement,
  to: ChannelId,
): Promise<PostResult> {
  try {
    const parent = thread ? await positionOf(context, thread) : null;
    const inThread = parent?.channel === to ? parent.ts : undefined;
    return await context.messenger.postToChannel(to, answer, inThread);
  } catch (error) {
    context.log.error({ err: error }, 'it is unknown whether an announcement was posted');
    return { ok: false, why: 'no answer', again: false };
  }
}

const StoredPosition = z.object({
  channel: z.string().transform((id) => id as ChannelId),
  ts: z.string(),
});

/** Returns where the announcement with this key was posted; null: it was not. */
export async function positionOf(context: DecisionContext, key: string): Promise<Position | null> {
  const value = await readMeta(context.database.db, keyOf(key));
  return value === null ? null : parsePosition(value);
}

function parsePosition(value: string): Position | null {
  return value.startsWith(SENDING) ? null : StoredPosition.parse(JSON.parse(value));
}

/** Returns the keys of all posted announcements that start with this prefix. */
export async function postedKeysUnder(db: Db, prefix: string): Promise<readonly string[]> {
  const all = await metaUnder(db, keyOf(prefix));
  const posted = all.filter(({ value }) => parsePosition(value) !== null);
  return posted.map(({ key }) => key.slice(POSTS.length));
}

interface PostPermit {
  readonly key: string;
  readonly value: string;
}

async function storePosition(
  context: DecisionContext,
  row: DueMessage,
  permit: PostPermit,
  { channel, ts }: Position,
) {
  await context.database.transaction(async (tx) => {
    await replaceMeta(tx, permit.key, permit.value, JSON.stringify({ channel, ts }));
    await markDone(tx, row.id, context.now());
  });
}

async function done(context: DecisionContext, row: DueMessage): Promise<void> {
  await context.database.transaction((tx) => markDone(tx, row.id, context.now()));
}

const Redraw = StoredAnnouncement.pick({ key: true, answer: true });

/** Updates a posted announcement. One that was not posted yet stays as it is. */
export async function enqueueRedraw(
  tx: Tx,
  { key, answer }: Pick<Announcement, 'key' | 'answer'>,
  at: Date,
): Promise<void> {
  const body = { key, answer: JSON.parse(JSON.stringify(answer)) };
  await enqueue(tx, { kind: 'redraw', body, at });
}

/** Redraws one announcement. A repeated redraw has no effect, so that it is safe to retry. */
export async function deliverRedraw(
  context: DecisionContext,
  row: DueMessage,
  { body }: ReportMessage,
): Promise<void> {
  const { key, answer } = Redraw.parse(body);
  const at = await positionOf(context, key);
  const drawn = at ? await context.messenger.updateMessage(at, answer) : null;
  if (!drawn || drawn.ok) return done(context, row);
  context.log.warn({ report: key, why: drawn.why }, 'announcement was not updated');
  if (!drawn.again || row.attempts >= GIVE_UP_AFTER) return done(context, row);
  const later = new Date(context.now().getTime() + RETRY_MS);
  await context.database.transaction((tx) => retryMessageAt(tx, row.id, later));
}

/** Anomalies are followed for 120 days and need the positions of their messages until then. */
const KEPT_MS = 180 * 86_400_000;

/** Deletes the positions of old announcements. */
export async function pruneReports(tx: Tx, now: Date): Promise<void> {
  const before = now.getTime() - KEPT_MS;
  for (const { key, value } of await metaUnder(tx, POSTS)) {
    if (attemptedOn(value) < before) await dropMeta(tx, key);
  }
}

/** A message's `ts` is its time in seconds since 1970. */
function attemptedOn(value: string): number {
  const position = parsePosition(value);
  return position ? Number(position.ts) * 1_000 : Date.parse(value.slice(SENDING.length + 1));
}
