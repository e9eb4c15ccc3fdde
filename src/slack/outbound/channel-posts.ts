import type { WebClient } from '@slack/web-api';
import type { ChannelId, Position } from '../../changes/change.ts';
import type { Answer } from '../../intent/answers/answer.ts';
import type { Messenger, PostResult } from '../../workflow/messenger-port.ts';
import { answerMessage, sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { inPlainBlocks, sendInEither } from '../blocks/plain-blocks.ts';
import { refusedBySlack } from '../slack-error.ts';
import { findChannelsByName } from './channels.ts';

interface Options {
  readonly posts: WebClient;
  readonly lookups: WebClient;
  readonly channels: { readonly audit: string | null };
}

type Broadcast = Pick<
  Messenger,
  'postToChannel' | 'updateMessage' | 'findChannels' | 'messageUser' | 'notifyOperators'
>;

/** What nobody asked for at that moment: reports to channels, and news for single people. */
export function createBroadcast({ posts, lookups, channels }: Options): Broadcast {
  async function send(channel: string, { text, blocks }: Message, threadTs?: string) {
    return posts.chat.postMessage({
      channel,
      text,
      // Blocks newer than Slack's published types are objects all the same.
      blocks: blocks as never[],
      ...(threadTs ? { thread_ts: threadTs } : {}),
      unfurl_links: false,
      unfurl_media: false,
    });
  }

  async function post(to: ChannelId, message: Message, threadTs?: string): Promise<PostResult> {
    try {
      const { ts, channel } = await send(to, message, threadTs);
      if (!ts || !channel) throw new Error('Slack posted without saying where');
      return { ok: true, at: { channel: channel as ChannelId, ts } };
    } catch (error) {
      const why = refusedBySlack(error);
      if (why === null) throw error;
      const plain = why === 'invalid_blocks' ? inPlainBlocks(message) : null;
      return plain ? post(to, plain, threadTs) : { ok: false, why, again: why === 'ratelimited' };
    }
  }

  async function redraw(at: Position, { text, blocks }: Message): Promise<PostResult> {
    try {
      await posts.chat.update({ ...at, text, blocks: blocks as never[], parse: 'none' });
      return { ok: true, at };
    } catch (error) {
      const why = refusedBySlack(error);
      if (why === null) throw error;
      return { ok: false, why, again: why === 'ratelimited' };
    }
  }

  return {
    postToChannel: (to, answer: Answer, threadTs) => post(to, answerMessage(answer), threadTs),
    updateMessage: (at, answer) => redraw(at, answerMessage(answer)),
    findChannels: (wanted) => findChannelsByName(lookups, wanted),
    messageUser: async (user, answer) => {
      await sendInEither(answerMessage(answer), (shown) => send(user, shown));
    },
    notifyOperators: async (sentence) => {
      if (channels.audit) await send(channels.audit, sentenceMessage([sentence]));
    },
  };
}
