import type { WebClient } from '@slack/web-api';
import type { Position } from '../../changes/change.ts';
import type { Messenger, PostResult } from '../../workflow/messenger-port.ts';
import { answerMessage, sentenceMessage } from '../blocks/answer-blocks.ts';
import { refusedBySlack } from '../slack-error.ts';
import { findChannelsByName } from './channels.ts';
import { postMessage, updateMessage } from './post.ts';

interface Options {
  readonly posts: WebClient;
  readonly lookups: WebClient;
  readonly channels: { readonly audit: string | null };
}

type ChannelPosts = Pick<
  Messenger,
  'postToChannel' | 'updateMessage' | 'findChannels' | 'messageUser' | 'notifyOperators'
>;

/** Scheduled reports to channels, and messages to single users and to the operators. */
export function createChannelPosts({ posts, lookups, channels }: Options): ChannelPosts {
  return {
    postToChannel: (to, answer, threadTs) =>
      resultOf(postMessage(posts, to, answerMessage(answer), threadTs)),
    updateMessage: (at, answer) =>
      resultOf(updateMessage(posts, at, answerMessage(answer)).then(() => at)),
    findChannels: (wanted) => findChannelsByName(lookups, wanted),
    messageUser: async (user, answer) => {
      await postMessage(posts, user, answerMessage(answer));
    },
    notifyOperators: async (sentence) => {
      if (channels.audit) await postMessage(posts, channels.audit, sentenceMessage([sentence]));
    },
  };
}

/** A definite refusal of Slack is a value; an unknown outcome is thrown. */
async function resultOf(posted: Promise<Position>): Promise<PostResult> {
  try {
    return { ok: true, at: await posted };
  } catch (error) {
    const why = refusedBySlack(error);
    if (why === null) throw error;
    return { ok: false, why, again: why === 'ratelimited' };
  }
}
