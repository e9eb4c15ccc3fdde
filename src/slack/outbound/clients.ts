import { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Secret } from '../../base/errors.ts';
import { boltLogger } from './bolt-logger.ts';

export interface Clients {
  /** Opens and updates modals while a user waits, with a short timeout. */
  readonly views: WebClient;
  /** Posts and updates messages, without retries: a repeated post would appear twice. */
  readonly posts: WebClient;
  /** Reads users, groups and channels. */
  readonly lookups: WebClient;
}

/**
 * Three clients, because a rate limit on one method delays every call of the same client. Each has
 * its own options object, because Bolt modifies the object that it gets.
 * Source: docs/slack.md#web-api.
 */
export function createClients(
  token: Secret,
  { slackApiUrl, log, fetch }: { slackApiUrl: string; log: Logger; fetch: typeof globalThis.fetch },
): Clients {
  const client = (timeout: number, retries: number) =>
    new WebClient(token.reveal(), {
      slackApiUrl,
      timeout,
      retryConfig: { retries, minTimeout: 200 },
      rejectRateLimitedCalls: true,
      allowAbsoluteUrls: false,
      logger: boltLogger(log),
      fetch,
    });
  return { views: client(2_500, 0), posts: client(10_000, 0), lookups: client(4_000, 1) };
}
