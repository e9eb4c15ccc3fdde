import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Position, UserId } from '../../domain/change.ts';
import type { Message } from '../blocks/blocks.ts';
import { postMessage, type ReplyTarget, updateMessage } from '../outbound/post.ts';

interface NoticeClients {
  readonly posts: WebClient;
  readonly log: Logger;
}

interface NoticePlace {
  readonly user: UserId;
  readonly replyTarget: ReplyTarget;
  /** Shows a message where the user asked. */
  readonly send: (message: Message) => Promise<void>;
}

/**
 * Shows a notice; returns its position if it can be replaced. Only a direct message of the app can: in
 * a channel the notice is ephemeral, and a direct message between two users gets a reply.
 */
export async function showNotice(
  { posts, log }: NoticeClients,
  { user, replyTarget: { channel, thread }, send }: NoticePlace,
  notice: Message,
): Promise<Position | null> {
  if (channel === null) return postMessage(posts, user, notice);
  if (channel.startsWith('D')) {
    const posted = postMessage(posts, channel, notice, thread ?? undefined);
    const position = await posted.catch((error: unknown) => {
      log.debug({ err: error }, 'a direct message without the app gets the notice as a reply');
      return null;
    });
    if (position) return position;
  }
  await send(notice);
  return null;
}

/** Replaces a notice by the answer; false if Slack refuses that, so that the answer is a new message. */
export async function replaceNotice(
  { posts, log }: NoticeClients,
  notice: Position,
  answer: Message,
): Promise<boolean> {
  return updateMessage(posts, notice, answer).then(
    () => true,
    (error: unknown) => {
      log.warn({ err: error }, 'a progress notice was not replaced: the answer is a new message');
      return false;
    },
  );
}
