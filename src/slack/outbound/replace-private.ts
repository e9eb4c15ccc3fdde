import type { WebClient } from '@slack/web-api';
import type { Message } from '../blocks/blocks.ts';
import { type PrivateMessage, updateMessage } from './post.ts';
import type { Respond } from './response-url.ts';

/**
 * Replaces a private message in place: a direct message by its position, an ephemeral one by its
 * response URL, which is the only way. Source: docs/slack.md#private-messages.
 */
export async function replacePrivate(
  { posts, respond }: { readonly posts: WebClient; readonly respond: Respond },
  { url, channel, ts }: PrivateMessage,
  message: Message,
): Promise<void> {
  if (channel && ts) return updateMessage(posts, { channel, ts }, message);
  if (!url) throw new Error('A private message without a position or a response URL');
  await respond(url, { ...message, replace: true });
}
