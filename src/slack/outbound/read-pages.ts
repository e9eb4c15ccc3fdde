import type { WebClient } from '@slack/web-api';

/** Slack refuses a limit of 1,000 and more. 20,000 channels are 21 calls. */
export const PAGE_SIZE = 999;

/**
 * The pages of a cursor-paginated method of the Web API, typed by the caller as Slack documents
 * them, with up to 999 items where the options have no limit. Throws after `most` pages, so that a
 * cursor that never ends does not occupy the process. Source: docs/slack.md#web-api.
 */
export async function* readPages<Page>(
  client: WebClient,
  method: string,
  options: Readonly<Record<string, unknown>>,
  most = 50,
): AsyncGenerator<Page> {
  let read = 0;
  for await (const page of client.paginate(method, { limit: PAGE_SIZE, ...options })) {
    if (read === most) throw new Error(`Slack has more than ${most} pages of ${method}`);
    read += 1;
    // WebClient does not type the pages by method.
    yield page as Page;
  }
}
