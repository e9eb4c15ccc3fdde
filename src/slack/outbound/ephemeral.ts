import type { ChangeId, ChannelId, UserId } from '../../changes/change.ts';
import type { Message } from '../blocks/blocks.ts';
import { sendInEither } from '../blocks/plain-blocks.ts';
import type { Clients } from './clients.ts';

/** Where somebody asked, and so where the answer is looked for. */
export interface ReplyTarget {
  readonly channel: ChannelId | null;
  /** The first message of the thread; null outside of threads. */
  readonly thread: string | null;
  /** The draft that an edited one takes the place of. */
  readonly edits?: ChangeId | undefined;
}

export const NO_REPLY_TARGET: ReplyTarget = { channel: null, thread: null };

/**
 * Tells one person something where there is no address to answer to: privately on the spot, else
 * in their messages with the app, for it may not be a member there.
 */
export async function postEphemeral(
  { posts }: Clients,
  user: UserId,
  { channel, thread }: ReplyTarget,
  message: Message,
): Promise<void> {
  const threaded = thread ? { thread_ts: thread } : {};
  const whisper = (to: ChannelId) =>
    sendInEither(message, (shown) =>
      posts.chat.postEphemeral({ ...bodyOf(shown), ...threaded, channel: to, user }),
    ).catch(() => null);
  const privately = channel ? await whisper(channel) : null;
  if (privately) return;
  await sendInEither(message, (shown) =>
    posts.chat.postMessage({ ...bodyOf(shown), channel: user }),
  );
}

function bodyOf({ text, blocks }: Message) {
  // Blocks newer than Slack's published types are objects all the same.
  return { text, blocks: blocks as never[], unfurl_links: false, unfurl_media: false };
}
