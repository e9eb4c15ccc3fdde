import { z } from 'zod';
import type { ChannelId, Position } from '../changes/change.ts';
import type { Answer } from '../intent/answer.ts';
import type { Tx } from '../storage/database.ts';
import { dropMeta, readMeta, replaceMeta } from '../storage/meta.ts';
import { enqueue, markDone, putBack, type takeDue } from '../storage/outbox.ts';
import type { Posting, World } from './world.ts';

export const REPORT = 'report';
const RETRY_MS = 30_000;
const GIVE_UP_AFTER = 20;

// Made by our own composers and stored as a whole; its words are literal wherever they are shown.
const Composed = z.custom<Answer>(
  (value) => typeof value === 'object' && value !== null && 'parts' in value,
);
const Report = z.object({
  key: z.string(),
  channel: z.string(),
  thread: z.string().nullable(),
  answer: Composed,
});

/** A message that stands for itself. Its key is posted at most once, by whichever replica. */
export interface Report {
  readonly key: string;
  readonly channel: string;
  /** The key of the report in whose thread it belongs, where that one was posted. */
  readonly thread: string | null;
  readonly answer: Answer;
}

type Row = Awaited<ReturnType<typeof takeDue>>[number];

export async function enqueueReport(tx: Tx, report: Report, at: Date): Promise<void> {
  const { key, channel, thread, answer } = report;
  // An answer is JSON but for its dates, which these reports spell out.
  const body = { key, channel, thread, answer: JSON.parse(JSON.stringify(answer)) };
  await enqueue(tx, { kind: REPORT, body, at });
}

/**
 * The permit to post is committed before the post: nothing could draw a second one over the first.
 * Only what was surely not posted is tried again; after a crash nobody knows, and it stays so.
 */
export async function deliverReport(world: World, row: Row): Promise<void> {
  const report = Report.parse(row.body);
  const room = await roomOf(world, report.channel);
  const permit = `post:${report.key}`;
  const mine = await world.database.transaction((tx) => replaceMeta(tx, permit, null, SENDING));
  if (!mine) {
    world.log.warn({ report: report.key }, 'a report was begun before and is not posted again');
    return done(world, row);
  }
  const posted = room.ok ? await post(world, report, room.id) : room;
  if (posted.ok) return keep(world, row, permit, posted.at);
  const { why, again } = posted;
  world.log.warn({ report: report.key, why, again }, 'a report was not posted');
  if (!again || row.attempts >= GIVE_UP_AFTER) return done(world, row);
  await world.database.transaction(async (tx) => {
    await dropMeta(tx, permit);
    await putBack(tx, row.id, new Date(world.now().getTime() + RETRY_MS));
  });
}

const SENDING = 'sending';

/** Costs never go where people of another workspace read along. */
async function roomOf(world: World, channel: string) {
  const found = (await world.messenger.findRooms([channel])).get(channel);
  const no = { ok: false, again: false } as const;
  if (!found?.ok) return { ...no, why: 'no channel', again: found?.why === 'lookup-failed' };
  if (found.room.outside) return { ...no, why: 'shared with another workspace' };
  return { ok: true, id: found.room.id } as const;
}

async function post(world: World, { answer, thread }: Report, to: ChannelId): Promise<Posting> {
  try {
    const above = thread ? await positionOf(world, thread) : null;
    const inThread = above?.channel === to ? above.ts : undefined;
    return await world.messenger.postAnswer(to, answer, inThread);
  } catch (error) {
    world.log.error({ err: error }, 'nobody knows whether a report was posted');
    return { ok: false, why: 'no answer', again: false };
  }
}

const Place = z.object({
  channel: z.string().transform((id) => id as ChannelId),
  ts: z.string(),
});

/** Where the report of this key stands; null while it does not. */
export async function positionOf(world: World, key: string): Promise<Position | null> {
  const value = await readMeta(world.database.db, `post:${key}`);
  return value === null || value === SENDING ? null : Place.parse(JSON.parse(value));
}

async function keep(world: World, row: Row, permit: string, { channel, ts }: Position) {
  await world.database.transaction(async (tx) => {
    await replaceMeta(tx, permit, SENDING, JSON.stringify({ channel, ts }));
    await markDone(tx, row.id, world.now());
  });
}

async function done(world: World, row: Row): Promise<void> {
  await world.database.transaction((tx) => markDone(tx, row.id, world.now()));
}
