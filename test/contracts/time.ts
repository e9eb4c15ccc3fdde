import type { Clock } from '../../src/base/time.ts';
import { afterTimeout } from '../harness/after-timeout.ts';

/**
 * One clock for the bot, Slack and both APIs. It advances only when a component waits: the wait ends
 * at once, and all deadlines within it expire.
 */
export function createTime(start: Date) {
  let nowMs = start.getTime();
  let deadlines: readonly { readonly at: number; readonly miss: AbortController }[] = [];

  const pass = (ms: number) => {
    nowMs += ms;
    const missed = deadlines.filter(({ at }) => at <= nowMs);
    deadlines = deadlines.filter(({ at }) => at > nowMs);
    for (const { miss } of missed) miss.abort();
  };
  const timeout = (ms: number) => {
    const miss = new AbortController();
    deadlines = [...deadlines, { at: nowMs + ms, miss }];
    return miss.signal;
  };
  const clock: Clock = {
    now: () => nowMs,
    sleep: async (ms) => pass(ms),
    timeout,
    after: afterTimeout(timeout),
    random: () => 0.5,
  };
  return { now: () => new Date(nowMs), pass, clock };
}
