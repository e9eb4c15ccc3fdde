import { request } from 'undici';
import type { Message } from './blocks.ts';
import { inPlainBlocks } from './plain-blocks.ts';

const WITHIN_MS = 5_000;

export interface Response extends Message {
  /** Takes the place of the message whose button was pressed. */
  readonly replace: boolean;
}

/** Posts to the address that came with a command or a click; it is a key, so it is never logged. */
export type Respond = (url: string, response: Response) => Promise<void>;

/** Only addresses of Slack are used: a payload must not be able to point us elsewhere. */
export function createRespond(slackApiUrl: string): Respond {
  const origins = new Set(['https://hooks.slack.com', new URL(slackApiUrl).origin]);
  return async (url, response) => {
    if (!origins.has(new URL(url).origin)) throw new Error('A response address is not of Slack');
    const { status, said } = await send(url, response);
    if (status < 300) return;
    // A workspace that does not know the newest blocks refuses the whole message: once without.
    const plain = said.includes('invalid_blocks') ? inPlainBlocks(response) : null;
    const again = plain && (await send(url, { ...plain, replace: response.replace }));
    if (again && again.status < 300) return;
    throw new Error(`Slack refused a private answer: ${status} ${said}`);
  };
}

// undici itself rather than `fetch`, which does twice the work for the same; it follows no redirect.
async function send(url: string, { text, blocks, replace }: Response) {
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headersTimeout: WITHIN_MS,
    bodyTimeout: WITHIN_MS,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      response_type: 'ephemeral',
      replace_original: replace,
      text,
      blocks,
      unfurl_links: false,
      unfurl_media: false,
    }),
  });
  // Reading it to the end lets the connection serve the next answer.
  return { status: statusCode, said: await body.text() };
}
