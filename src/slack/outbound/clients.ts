import { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Secret } from '../../errors.ts';
import { boltLogger } from './bolt-logger.ts';
import { tracedFetch } from './traced-fetch.ts';

export interface Clients {
  /** Opens and fills modals while a person waits: late is as bad as never. */
  readonly views: WebClient;
  /** Posts and redraws. It never repeats by itself: a post that is sent twice stands there twice. */
  readonly posts: WebClient;
  /** Reads people and groups. */
  readonly lookups: WebClient;
}

/**
 * Three clients, for a rate limit on one method holds up everything else of the same client. Each
 * has an options object of its own, because Bolt and its receivers write into what they are given.
 * Source: docs/slack.md#web-api.
 */
export function createClients(token: Secret, slackApiUrl: string, log: Logger): Clients {
  const traced = tracedFetch(slackApiUrl);
  const client = (timeout: number, retries: number) =>
    new WebClient(token.reveal(), {
      slackApiUrl,
      timeout,
      retryConfig: { retries, minTimeout: 200 },
      rejectRateLimitedCalls: true,
      allowAbsoluteUrls: false,
      logger: boltLogger(log),
      ...(traced ? { fetch: traced } : {}),
    });
  return { views: client(2_500, 0), posts: client(10_000, 0), lookups: client(4_000, 1) };
}
