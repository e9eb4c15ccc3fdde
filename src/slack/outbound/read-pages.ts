import type { WebClient } from '@slack/web-api';

/** Slack refuses a limit of 1,000 and more. 20,000 channels are 21 calls. */
export const PAGE_SIZE = 999;

interface PageReading {
  /** The highest number of pages. */
  readonly most?: number;
  /** Makes the call of one page, for example again after a rate limit. */
  readonly call?: <Page>(read: () => Promise<Page>) => Promise<Page>;
}

/**
 * The pages of a cursor-paginated method of the Web API, typed by the caller as Slack documents
 * them, with up to 999 items where the options have no limit. Throws after `most` pages, so that a
 * cursor that never ends does not occupy the process. Source: docs/slack.md#web-api.
 */
export async function* readPages<Page>(
  client: WebClient,
  method: string,
  options: Readonly<Record<string, unknown>>,
  { most = 50, call = (read) => read() }: PageReading = {},
): AsyncGenerator<Page> {
  let cursor = '';
  for (let read = 0; read < most; read += 1) {
    const next = cursor === '' ? {} : { cursor };
    const page = await call(() =>
      client.apiCall(method, { limit: PAGE_SIZE, ...options, ...next }),
    );
    // WebClient does not type the pages by method.
    yield page as Page;
    cursor = page.response_metadata?.next_cursor ?? '';
    if (cursor === '') return;
  }
  throw new Error(`Slack has more than ${most} pages of ${method}`);
}
