import type { Logger } from 'pino';
import { z } from 'zod';
import type { Measures } from '../../base/log.ts';
import { DAY_MS } from '../../base/time.ts';
import type { Answer, Poster } from '../../domain/answer.ts';
import type { ChannelId, Position } from '../../domain/change.ts';
import type { Database, Db, Tx } from '../../storage/old/database.ts';
import { dropMeta, metaUnder, readMeta, replaceMeta, writeMeta } from '../../storage/old/meta.ts';
import { type DueMessage, enqueue, markDone, retryMessageAt } from '../../storage/old/outbox.ts';
import type { ReportMessage } from '../../storage/old/outbox-message.ts';
import {
  endUnknown,
  missOnce,
  type PostRecord,
  postChannel,
  postOncePerRecord,
  STUCK_AFTER_MS,
} from './post-once.ts';
import { countLost, isGivenUp, retryTime } from './retry.ts';

const RETRY_MS = 30_000;

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

interface ReportContext {
  readonly database: Database;
  readonly messenger: Poster;
  readonly log: Logger;
  readonly measures: Pick<Measures, 'messageLost'>;
  readonly now: () => Date;
}

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

/** Posts one announcement once. A temporary refusal is retried for 24 hours, then missed. */
export async function deliverReport(
  context: ReportContext,
  row: DueMessage,
  { body }: ReportMessage,
): Promise<void> {
  const announcement = StoredAnnouncement.parse(body);
  const { channel: name, thread, answer } = announcement;
  const canRetry = !isGivenUp(row, context.now());
  const record = recordOf(context, row, announcement, context.now().toISOString());
  const found = postChannel((await context.messenger.findChannels([name])).get(name));
  if (!found.ok) {
    if (found.again && canRetry) {
      return retryAt(context, row, retryTime(row, context.now(), RETRY_MS));
    }
    const isFirst = await missOnce(context, record, found.why);
    return isFirst ? countLost(context, row) : settleEarlier(context, row, announcement);
  }
  const parent = thread === null ? null : await positionOf(context, thread);
  const { id } = found.channel;
  const threadTs = parent?.channel === id ? parent.ts : undefined;
  const { outcome } = await postOncePerRecord(context, record, {
    to: id,
    answer,
    threadTs,
    canRetry,
  });
  if (outcome === 'taken') await settleEarlier(context, row, announcement);
  if (outcome === 'refused') countLost(context, row);
}

/** The key has a record already: its post ended, is still running, or its process crashed. */
async function settleEarlier(
  context: ReportContext,
  row: DueMessage,
  announcement: Announcement,
): Promise<void> {
  const since = pendingSince(await readMeta(context.database.db, keyOf(announcement.key)));
  if (since === null) return done(context, row);
  const ageMs = context.now().getTime() - Date.parse(since);
  if (ageMs < STUCK_AFTER_MS) {
    return retryAt(context, row, new Date(Date.parse(since) + STUCK_AFTER_MS));
  }
  await endUnknown(context, recordOf(context, row, announcement, since));
}

const SENDING = 'sending';
const POSTS = 'post:';

function keyOf(announcement: string): string {
  return `${POSTS}${announcement}`;
}

/**
 * The record of an announcement, in the table `meta`: `sending <time>`, then its position as JSON,
 * or `sending <time> missed` or `unknown`. Earlier releases read all of the latter as not posted.
 */
function recordOf(
  { now }: Pick<ReportContext, 'now'>,
  row: DueMessage,
  { key, channel, answer }: Announcement,
  since: string,
): PostRecord {
  const pending = `${SENDING} ${since}`;
  return {
    subject: `the message "${answer.title}" for ${channel}`,
    requester: null,
    permit: (tx) => replaceMeta(tx, keyOf(key), null, pending),
    withdraw: async (tx) => {
      await dropMeta(tx, keyOf(key));
      await retryMessageAt(tx, row.id, retryTime(row, now(), RETRY_MS));
    },
    end: async (tx, end) => {
      const value = end.state === 'posted' ? JSON.stringify(end.at) : `${pending} ${end.state}`;
      const isOwn = await replaceMeta(tx, keyOf(key), pending, value);
      await markDone(tx, [row.id], now());
      return isOwn;
    },
  };
}

const StoredPosition = z.object({
  channel: z.string().transform((id) => id as ChannelId),
  ts: z.string(),
});

/** Returns where the announcement with this key was posted; null: it was not. */
export async function positionOf(
  context: Pick<ReportContext, 'database'>,
  key: string,
): Promise<Position | null> {
  const value = await readMeta(context.database.db, keyOf(key));
  return value === null ? null : parsePosition(value);
}

/** Records where the announcement with this key is, for one that was posted in another way. */
export async function storePosition(tx: Tx, key: string, at: Position): Promise<void> {
  await writeMeta(tx, keyOf(key), JSON.stringify(at));
}

function parsePosition(value: string): Position | null {
  return value.startsWith(SENDING) ? null : StoredPosition.parse(JSON.parse(value));
}

/** The time of a permit whose post has not ended; null for every other record. */
function pendingSince(value: string | null): string | null {
  const [state, since = null, end] = value?.split(' ') ?? [];
  return state === SENDING && end === undefined ? since : null;
}

/** Returns the keys of all posted announcements that start with this prefix. */
export async function postedKeysUnder(db: Db, prefix: string): Promise<readonly string[]> {
  const all = await metaUnder(db, keyOf(prefix));
  const posted = all.filter(({ value }) => parsePosition(value) !== null);
  return posted.map(({ key }) => key.slice(POSTS.length));
}

async function done(context: ReportContext, row: DueMessage): Promise<void> {
  await context.database.transaction((tx) => markDone(tx, [row.id], context.now()));
}

async function retryAt(context: ReportContext, row: DueMessage, at: Date): Promise<void> {
  await context.database.transaction((tx) => retryMessageAt(tx, row.id, at));
}

const StoredRedraw = StoredAnnouncement.pick({ key: true, answer: true });

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
  context: ReportContext,
  row: DueMessage,
  { body }: ReportMessage,
): Promise<void> {
  const { key, answer } = StoredRedraw.parse(body);
  const at = await positionOf(context, key);
  const drawn = at ? await context.messenger.updateMessage(at, answer) : null;
  if (!drawn || drawn.ok) return done(context, row);
  context.log.warn({ announcement: key, why: drawn.why }, 'announcement was not updated');
  const now = context.now();
  if (drawn.again && !isGivenUp(row, now)) {
    return retryAt(context, row, retryTime(row, now, RETRY_MS));
  }
  countLost(context, row);
  return done(context, row);
}

/** Anomalies are followed for 120 days and need the positions of their messages until then. */
const KEPT_MS = 180 * DAY_MS;

/** Deletes the records of old announcements. */
export async function pruneReports(tx: Tx, now: Date): Promise<void> {
  const before = now.getTime() - KEPT_MS;
  for (const { key, value } of await metaUnder(tx, POSTS)) {
    if (attemptedAt(value) < before) await dropMeta(tx, key);
  }
}

/** The `ts` of a message is its time in seconds since 1970. */
function attemptedAt(value: string): number {
  const position = parsePosition(value);
  return position ? Number(position.ts) * 1_000 : Date.parse(value.split(' ')[1] ?? '');
}
