import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Clock } from '../../base/time.ts';
import { refusedBySlack, retryAfterMs } from '../slack-error.ts';
import { PAGE_SIZE } from './read-pages.ts';

const PAGES_MAX = 200;
const WAITS_MAX = 20;
const WAIT_UNKNOWN_MS = 30_000;

export interface SlackChannel {
  readonly id?: string;
  readonly name?: string;
  readonly is_ext_shared?: boolean;
  readonly is_pending_ext_shared?: boolean;
  readonly is_member?: boolean;
  readonly is_archived?: boolean;
}

interface ListOptions {
  readonly lookups: WebClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with every complete list, also where its readers have stopped waiting. */
  readonly onListed: (channels: readonly SlackChannel[], pages: number) => Promise<void>;
}

/** The list of all open channels that the bot can see. */
export interface ChannelList {
  /**
   * Returns all channels. Simultaneous readers share one list. At a rate limit the readers get the
   * error at once, while the list continues in the background after the time that Slack names.
   * Source: docs/slack.md#large-workspaces.
   */
  readonly read: () => Promise<readonly SlackChannel[]>;
  /** The seconds until the list continues after a rate limit; null if none waits. */
  readonly waitsForS: () => number | null;
}

export function createChannelList(options: ListOptions): ChannelList {
  const { clock, log } = options;
  let running: Promise<readonly SlackChannel[]> | null = null;
  let limited = Promise.withResolvers<never>();
  let resumesAt: number | null = null;

  async function wait(error: unknown): Promise<void> {
    const waitMs = retryAfterMs(error) ?? WAIT_UNKNOWN_MS;
    const seconds = waitMs / 1_000;
    log.warn({ seconds }, 'Slack limits the rate of conversations.list; the list continues later');
    resumesAt = clock.now() + waitMs;
    limited.reject(error);
    await clock.sleep(waitMs);
  }

  async function run(): Promise<readonly SlackChannel[]> {
    try {
      const { channels, pages } = await readAll(options.lookups, wait);
      await options.onListed(channels, pages);
      return channels;
    } finally {
      running = null;
      resumesAt = null;
    }
  }

  function start(): Promise<readonly SlackChannel[]> {
    limited = Promise.withResolvers<never>();
    const result = run();
    // The readers may be gone when the list fails.
    result.catch((error: unknown) => log.warn({ err: error }, 'channels could not be listed'));
    limited.promise.catch(() => undefined);
    return result;
  }

  return {
    read: () => {
      running ??= start();
      return Promise.race([running, limited.promise]);
    },
    waitsForS: () =>
      resumesAt === null ? null : Math.max(0, Math.ceil((resumesAt - clock.now()) / 1_000)),
  };
}

/** Reads page by page. `wait` is awaited at a rate limit; then the same page is read again. */
async function readAll(lookups: WebClient, wait: (error: unknown) => Promise<void>) {
  const channels: SlackChannel[] = [];
  let cursor = '';
  let waits = 0;
  for (let pages = 1; pages <= PAGES_MAX; ) {
    try {
      const page = await lookups.conversations.list({
        types: 'public_channel,private_channel',
        exclude_archived: true,
        limit: PAGE_SIZE,
        ...(cursor === '' ? {} : { cursor }),
      });
      channels.push(...(page.channels ?? []));
      cursor = page.response_metadata?.next_cursor ?? '';
      if (cursor === '') return { channels, pages };
      pages += 1;
    } catch (error) {
      waits += 1;
      if (refusedBySlack(error) !== 'ratelimited' || waits > WAITS_MAX) throw error;
      await wait(error);
    }
  }
  throw new Error(`Slack has more than ${PAGES_MAX} pages of conversations.list`);
}
