import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { UserId } from '../../domain/change.ts';
import type { Message } from '../blocks/blocks.ts';
import { postEphemeral, type ReplyTarget } from './post.ts';
import type { Respond } from './response-url.ts';

interface ReplyClients {
  readonly respond: Respond;
  readonly clients: { readonly posts: WebClient };
  readonly log: Logger;
}

interface Interaction {
  /** Null where Slack gives none, for example on the Home tab. */
  readonly url: string | null;
  readonly user: UserId;
  readonly replyTarget: ReplyTarget;
}

/**
 * Answers an interaction privately by its response URL, in the thread of the interaction. Without a
 * response URL, and where Slack refuses it, for example after five uses, the answer is an ephemeral
 * message, else a direct message.
 * Source: docs/slack.md#timing.
 */
export async function replyPrivately(
  { respond, clients, log }: ReplyClients,
  { url, user, replyTarget }: Interaction,
  answer: Message,
): Promise<void> {
  const post = () => postEphemeral(clients.posts, user, replyTarget, answer);
  if (url === null) return post();
  const { thread } = replyTarget;
  await respond(url, { ...answer, replace: false, thread }).catch((error: unknown) => {
    log.warn({ err: error }, 'the response URL failed: the answer is posted as a message');
    return post();
  });
}
