import type { WebClient } from '@slack/web-api';
import type { ChangeId, ChannelId, Position, UserId } from '../../domain/change.ts';
import type { Message } from '../blocks/blocks.ts';
import { inPlainBlocks } from '../blocks/plain-blocks.ts';
import { refusedBySlack } from '../slack-error.ts';
import { findOwnMessage, type OwnMessages } from './find-own-message.ts';

/** Where a user asked, which is where the private answer appears. */
export interface ReplyTarget {
  readonly channel: ChannelId | null;
  /** The first message of the thread; null outside of threads. */
  readonly thread: string | null;
  /** The draft that the edited one replaces. */
  readonly edits?: ChangeId | undefined;
  /** The preview of that draft, which the new preview replaces. */
  readonly replaces?: PrivateMessage | undefined;
}

/** A private message of Signalbox, which an answer can replace. */
export interface PrivateMessage {
  /** Replaces an ephemeral message. It is valid for 30 minutes and never logged. */
  readonly url: string | null;
  readonly channel: ChannelId | null;
  /** Replaces a direct message, together with the channel; null for an ephemeral one. */
  readonly ts: string | null;
}

export const NO_REPLY_TARGET: ReplyTarget = { channel: null, thread: null };

/** Every message of Signalbox is posted by this function; Slack's refusals are thrown. */
export async function postMessage(
  posts: WebClient,
  channel: string,
  message: Message,
  threadTs?: string,
): Promise<Position> {
  const posted = await withBlockFallback(message, (shown) =>
    posts.chat.postMessage({ ...bodyOf(shown), ...inThread(threadTs), channel }),
  );
  if (!posted.ts || !posted.channel) throw new Error('Slack accepted a post without a position');
  return { channel: posted.channel as ChannelId, ts: posted.ts };
}

interface EarlierAttempt {
  readonly threadTs?: string | undefined;
  /** How an earlier attempt is recognised by its text; null for a first attempt. */
  readonly isSame: ((text: string) => boolean) | null;
}

/**
 * Posts a message unless an earlier attempt, whose answer was lost, has posted it. Slack documents
 * no idempotency key, so Signalbox looks for its own message before it posts again.
 */
export async function postOnce(
  { posts, ...own }: OwnMessages & { readonly posts: WebClient },
  channel: string,
  message: Message,
  { threadTs, isSame }: EarlierAttempt,
): Promise<Position> {
  const earlier = isSame && (await findOwnMessage(own, { channel, threadTs, isSame }));
  return earlier ?? postMessage(posts, channel, message, threadTs);
}

export async function updateMessage(
  posts: WebClient,
  at: Position,
  message: Message,
): Promise<void> {
  await withBlockFallback(message, (shown) =>
    posts.chat.update({ ...contentOf(shown), ...at, parse: 'none' }),
  );
}

/**
 * Shows a message to one user where they asked. Falls back to their direct messages, because
 * Signalbox may not be a member of that channel.
 */
export async function postEphemeral(
  posts: WebClient,
  user: UserId,
  { channel, thread }: ReplyTarget,
  message: Message,
): Promise<void> {
  const shown =
    channel !== null &&
    (await withBlockFallback(message, (body) =>
      posts.chat.postEphemeral({ ...bodyOf(body), ...inThread(thread), channel, user }),
    ).catch(() => null));
  if (!shown) await postMessage(posts, user, message);
}

/** Sends a message, and once more without tables and charts if the workspace rejects those. */
async function withBlockFallback<T>(
  message: Message,
  send: (shown: Message) => Promise<T>,
): Promise<T> {
  return send(message).catch((error: unknown) => {
    const plain = refusedBySlack(error) === 'invalid_blocks' ? inPlainBlocks(message) : null;
    if (!plain) throw error;
    return send(plain);
  });
}

function inThread(ts: string | null | undefined) {
  return ts ? { thread_ts: ts } : {};
}

function bodyOf(message: Message) {
  return { ...contentOf(message), unfurl_links: false, unfurl_media: false };
}

function contentOf({ text, blocks }: Message) {
  // Slack's published types do not have the newest blocks yet.
  return { text, blocks: blocks as never[] };
}
