import type { Message } from './blocks.ts';

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
  return async (url, { text, blocks, replace }) => {
    if (!origins.has(new URL(url).origin)) throw new Error('A response address is not of Slack');
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), WITHIN_MS);
    try {
      const answer = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        signal: late.signal,
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
      const said = await answer.text();
      if (!answer.ok) throw new Error(`Slack refused a private answer: ${answer.status} ${said}`);
    } finally {
      clearTimeout(timer);
    }
  };
}
