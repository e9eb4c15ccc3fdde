import { note, step } from '../../observability/trace.ts';
import type { Message } from '../blocks/blocks.ts';
import { inPlainBlocks } from '../blocks/plain-blocks.ts';

const WITHIN_MS = 5_000;

export interface Response extends Message {
  /** Replaces the message whose button was pressed. */
  readonly replace: boolean;
}

/** Posts to the response URL of a command or click. The URL is a credential and is never logged. */
export type Respond = (url: string, response: Response) => Promise<void>;

/** One request that follows no redirect. */
export type Post = (
  url: string,
  content: unknown,
  withinMs: number,
) => Promise<{ readonly status: number; readonly text: string }>;

/** Posts only to Slack's own origins, so that a payload cannot redirect an answer. */
export function createRespond(slackApiUrl: string, post: Post): Respond {
  const send = (url: string, response: Response) =>
    step({ name: 'slack response_url', kind: 'client' }, async () => {
      const posted = await post(url, contentOf(response), WITHIN_MS);
      const refused = posted.status < 300 ? {} : { 'error.type': String(posted.status) };
      note({ 'http.response.status_code': posted.status, ...refused });
      return posted;
    });
  const origins = new Set(['https://hooks.slack.com', new URL(slackApiUrl).origin]);
  return async (url, response) => {
    if (!origins.has(new URL(url).origin)) throw new Error('The response URL is not of Slack');
    const { status, text: reason } = await send(url, response);
    if (status < 300) return;
    // A workspace that does not support the newest blocks rejects the whole message.
    const plain = reason.includes('invalid_blocks') ? inPlainBlocks(response) : null;
    const again = plain && (await send(url, { ...plain, replace: response.replace }));
    if (again && again.status < 300) return;
    throw new Error(`Slack refused a private answer: ${status} ${reason}`);
  };
}

function contentOf({ text, blocks, replace }: Response) {
  return {
    response_type: 'ephemeral',
    replace_original: replace,
    text,
    blocks,
    unfurl_links: false,
    unfurl_media: false,
  };
}
