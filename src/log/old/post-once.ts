import type { Logger } from 'pino';
import type { Answer, Channel, ChannelLookup, Poster, PostResult } from '../../domain/answer.ts';
import type { ChannelId, Position, UserId } from '../../domain/change.ts';
import type { Database, Tx } from '../../storage/old/database.ts';
import { enqueueOperatorsNotice, enqueueUserNotice } from './notices.ts';

/** A permit of this age without an end belongs to a process that crashed. */
export const STUCK_AFTER_MS = 10 * 60_000;

interface PostContext {
  readonly database: Database;
  readonly messenger: Pick<Poster, 'postToChannel'>;
  readonly log: Logger;
  readonly now: () => Date;
}

/** `at` is null for a post that was left out on purpose, for example by a quiet digest. */
type PostEnd =
  | { readonly state: 'posted'; readonly at: Position | null }
  | { readonly state: 'missed' | 'unknown' };

/**
 * The stored state of one post: none → sending → posted, missed or unknown. Only *none* can be
 * posted, and each step is one committed transaction, so that a key is posted at most once.
 */
export interface PostRecord {
  /** The post as operators read it: `the cost digest of #costs for Fri 20 Nov`. */
  readonly subject: string;
  /** The user who is notified when the post is missed, besides the operators. */
  readonly requester: UserId | null;
  /** none → sending. False: the key has a record already. */
  readonly permit: (tx: Tx) => Promise<boolean>;
  /** sending → none, after a refusal that proves that nothing was posted. */
  readonly withdraw: (tx: Tx) => Promise<unknown>;
  /** sending → an end. False: another process ended it. */
  readonly end: (tx: Tx, end: PostEnd) => Promise<boolean>;
}

interface Post {
  readonly to: ChannelId;
  readonly answer: Answer;
  readonly threadTs?: string | undefined;
  /** Whether the caller tries again after a temporary refusal. */
  readonly canRetry: boolean;
}

export type PostOnceResult =
  | { readonly outcome: 'posted'; readonly at: Position }
  | { readonly outcome: 'taken' | 'refused' | 'rate-limited' | 'unknown' };

/**
 * Posts at most once per record, whichever process crashes: the permit is committed before the
 * post. Operators are notified of every post that is missed or has an unknown outcome.
 */
export async function postOncePerRecord(
  context: PostContext,
  record: PostRecord,
  { to, answer, threadTs, canRetry }: Post,
): Promise<PostOnceResult> {
  if (!(await context.database.transaction(record.permit))) return { outcome: 'taken' };
  let result: PostResult;
  try {
    result = await context.messenger.postToChannel(to, answer, threadTs);
  } catch (error) {
    context.log.error({ err: error, post: record.subject }, 'outcome of a post is unknown');
    await endUnknown(context, record);
    return { outcome: 'unknown' };
  }
  const { database } = context;
  if (result.ok) {
    const { at } = result;
    await database.transaction((tx) => record.end(tx, { state: 'posted', at }));
    return { outcome: 'posted', at };
  }
  if (result.again && canRetry) {
    await database.transaction(record.withdraw);
    return { outcome: 'rate-limited' };
  }
  const why = `Slack refused it (${result.why})`;
  await database.transaction(async (tx) => {
    if (await record.end(tx, { state: 'missed' })) await reportMissed(tx, context, record, why);
  });
  return { outcome: 'refused' };
}

/** Stores an end without a post. False: the key has a record already. */
export function endWithoutPost(
  { database }: Pick<PostContext, 'database'>,
  record: PostRecord,
  end: PostEnd,
): Promise<boolean> {
  return database.transaction(
    async (tx) => (await record.permit(tx)) && (await record.end(tx, end)),
  );
}

/** Stores and reports that a post is missed, once. False: the key has a record already. */
export async function missOnce(
  context: PostContext,
  record: PostRecord,
  why: string,
): Promise<boolean> {
  return context.database.transaction(async (tx) => {
    const isFirst = (await record.permit(tx)) && (await record.end(tx, { state: 'missed' }));
    if (isFirst) await reportMissed(tx, context, record, why);
    return isFirst;
  });
}

/** Ends a permit whose post may have arrived. It is reported once and never posted again. */
export async function endUnknown(context: PostContext, record: PostRecord): Promise<void> {
  const text =
    `Outcome unknown: Signalbox stopped or lost the connection while it posted ` +
    `${record.subject}. It does not post it again.`;
  await context.database.transaction(async (tx) => {
    if (!(await record.end(tx, { state: 'unknown' }))) return;
    await enqueueOperatorsNotice(tx, text, context.now());
  });
}

async function reportMissed(
  tx: Tx,
  { log, now }: PostContext,
  { subject, requester }: PostRecord,
  why: string,
): Promise<void> {
  const text = `${subject.charAt(0).toUpperCase()}${subject.slice(1)} was not posted: ${why}.`;
  log.warn({ post: subject, why }, 'post missed');
  await enqueueOperatorsNotice(tx, text, now());
  if (requester) await enqueueUserNotice(tx, { to: requester, title: 'Not posted', text }, now());
}

type PostChannel =
  | { readonly ok: true; readonly channel: Channel }
  /** `again`: the lookup failed, so that a later attempt may succeed. */
  | { readonly ok: false; readonly why: string; readonly again: boolean };

/** The channel to post to, or why Signalbox posts nothing there. Costs stay in this workspace. */
export function postChannel(found: ChannelLookup | undefined): PostChannel {
  const refused = (why: string, again = false) => ({ ok: false, why, again }) as const;
  if (!found || (!found.ok && found.why === 'lookup-failed')) {
    return refused('Slack did not answer the channel lookup', true);
  }
  if (!found.ok) return refused('the channel does not exist, or Signalbox is not in it');
  const { room: channel } = found;
  if (channel.outside) return refused('the channel is shared with another workspace');
  if (!channel.joined) return refused('Signalbox is not in the channel: /invite it there');
  return { ok: true, channel };
}
