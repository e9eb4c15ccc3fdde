import { note, step } from '../../base/log.ts';
import type { Message } from '../blocks/blocks.ts';
import { inPlainBlocks } from '../blocks/plain-blocks.ts';

const WITHIN_MS = 5_000;

interface Response extends Message {
  /** Replaces the message whose button was pressed. */
  readonly replace: boolean;
  /** The thread in which an answer that replaces nothing appears. */
  readonly thread?: string | null;
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
      const refused = isAccepted(posted) ? {} : { 'error.type': String(posted.status) };
      note({ 'http.response.status_code': posted.status, ...refused });
      return posted;
    });
  const origins = new Set(['https://hooks.slack.com', new URL(slackApiUrl).origin]);
  return async (url, response) => {
    if (!origins.has(new URL(url).origin)) throw new Error('The response URL is not of Slack');
    const posted = await send(url, response);
    if (isAccepted(posted)) return;
    const { status, text: reason } = posted;
    // A workspace that does not support the newest blocks rejects the whole message.
    const plain = reason.includes('invalid_blocks') ? inPlainBlocks(response) : null;
    const again = plain && (await send(url, { ...response, ...plain }));
    if (again && isAccepted(again)) return;
    throw new Error(`Slack refused a private answer: ${status} ${reason}`);
  };
}

/** Slack reports some refusals with status 200 and `ok: false`, and an acceptance as JSON or `ok`. */
function isAccepted({ status, text }: Awaited<ReturnType<Post>>): boolean {
  return status < 300 && !/^\s*\{.*"ok"\s*:\s*false\b/s.test(text);
}

function contentOf({ text, blocks, replace, thread }: Response) {
  return {
    response_type: 'ephemeral',
    replace_original: replace,
    ...(thread && !replace ? { thread_ts: thread } : {}),
    text,
    blocks,
    unfurl_links: false,
    unfurl_media: false,
  };
}
