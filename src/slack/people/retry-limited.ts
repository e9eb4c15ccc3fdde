import type { Clock } from '../../base/time.ts';
import { refusedBySlack, retryAfterMs } from '../slack-error.ts';

const WITHIN_MS = 90_000;
const ATTEMPTS_MAX = 4;
const WAIT_UNKNOWN_MS = 30_000;

/** Repeats a read that Slack refuses with a rate limit; any other error is thrown at once. */
export type RetryLimited = <Value>(read: () => Promise<Value>) => Promise<Value>;

/**
 * For the reads of one start: each waits for the time that Slack names. All together wait at most
 * 90 s, because a supervisor limits the time of a start; then the rate limit is thrown.
 * Source: docs/slack.md#large-workspaces.
 */
export function createRetryLimited(clock: Pick<Clock, 'now' | 'sleep'>): RetryLimited {
  const endsAt = clock.now() + WITHIN_MS;
  return async (read) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await read();
      } catch (error) {
        const waitMs = retryAfterMs(error) ?? WAIT_UNKNOWN_MS;
        const isLimited = refusedBySlack(error) === 'ratelimited';
        const isLate = attempt === ATTEMPTS_MAX || clock.now() + waitMs > endsAt;
        if (!isLimited || isLate) throw error;
        await clock.sleep(waitMs);
      }
    }
  };
}
