import type { WebClient } from '@slack/web-api';
import type { Messenger } from '../../workflow/messenger-port.ts';
import { answerMessage } from '../blocks/answer-blocks.ts';
import type { Drawing } from '../cards/drawing.ts';
import { refusalMessage } from '../cards/refusals.ts';
import type { Respond } from './response-url.ts';

interface Options {
  readonly posts: WebClient;
  readonly respond: Respond;
  readonly drawing: Drawing;
}

/** For whoever pressed alone: what it did, or why it did nothing. */
export function createPressAnswer(options: Options): Pick<Messenger, 'answerIncidentClick'> {
  const { posts, respond, drawing } = options;
  return {
    answerIncidentClick: async ({ url, user }, pressed) => {
      const { text, blocks } = pressed.ok
        ? answerMessage(pressed.answer)
        : refusalMessage(pressed.denial, drawing);
      if (url) return respond(url, { text, blocks, replace: false });
      // Without an address to answer to, the person's own messages are left.
      await posts.chat.postMessage({ channel: user, text, blocks: blocks as never[] });
    },
  };
}
