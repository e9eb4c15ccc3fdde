import type { WebClient } from '@slack/web-api';

/**
 * The pages of a cursor-paginated method of the Web API, typed by the caller as Slack documents
 * them. Throws after `most` pages, so that a cursor that never ends does not occupy the process.
 */
export async function* readPages<Page>(
  client: WebClient,
  method: string,
  options: Readonly<Record<string, unknown>>,
  most = 50,
): AsyncGenerator<Page> {
  let read = 0;
  for await (const page of client.paginate(method, { ...options })) {
    if (read === most) throw new Error(`Slack has more than ${most} pages of ${method}`);
    read += 1;
    // WebClient does not type the pages by method.
    yield page as Page;
  }
}
