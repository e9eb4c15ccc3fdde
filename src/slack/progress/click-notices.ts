import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Clock } from '../../base/time.ts';
import type { ChannelId } from '../../domain/change.ts';
import type { ReplyTo } from '../../workflow/clicks.ts';
import type { HandledClick } from '../../workflow/messenger-port.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { replyPrivately } from '../outbound/reply.ts';
import type { Respond } from '../outbound/response-url.ts';
import { showNotice } from './notice.ts';
import { type Finished, PROGRESS_AFTER_MS, withProgress } from './progress.ts';

const CHECKING = sentenceMessage(['Checking your permission…']);
const WAITING_MAX = 1_000;

interface Options {
  readonly posts: WebClient;
  readonly respond: Respond;
  readonly clock: Clock;
  readonly now: () => Date;
  readonly log: Logger;
}

type Notice = Pick<Finished<void>, 'isLate' | 'notice'>;

/**
 * The notices of stored clicks. The process that received a click shows its notice; another process
 * may handle the click, and then sends its result as a new message.
 * Source: docs/slack.md#private-messages.
 */
export function createClickNotices({ posts, respond, clock, now, log }: Options) {
  const waiting = new Map<string, () => Promise<Notice>>();

  const add = (key: string, end: () => Promise<Notice>) => {
    waiting.set(key, end);
    const [oldest] = waiting.keys();
    if (waiting.size > WAITING_MAX && oldest !== undefined) waiting.delete(oldest);
  };

  return {
    expect: (key: string, replyTo: ReplyTo, isHandled: () => Promise<boolean>): void => {
      const handled = Promise.withResolvers<void>();
      const { url, user, thread } = replyTo;
      const replyTarget = { channel: replyTo.channel as ChannelId | null, thread };
      const reply = { respond, clients: { posts }, log };
      const send = (message: Message) => replyPrivately(reply, { url, user, replyTarget }, message);
      const show = async () => {
        // While the database does not answer, the click cannot have been handled.
        if (!(await isHandled().catch(() => false)))
          return showNotice({ posts, log }, { user, replyTarget, send }, CHECKING);
        waiting.delete(key);
        return null;
      };
      const finished = withProgress({ clock, log, show }, () => handled.promise);
      add(key, () => {
        handled.resolve();
        return finished;
      });
    },
    /** Ends the wait for a click: whether its user waits for a result, and the notice to replace. */
    end: async ({ key, at }: HandledClick): Promise<Notice> => {
      const end = waiting.get(key);
      waiting.delete(key);
      const isLate = now().getTime() - at.getTime() >= PROGRESS_AFTER_MS;
      return end ? end() : { isLate, notice: null };
    },
  };
}

export type ClickNotices = ReturnType<typeof createClickNotices>;
