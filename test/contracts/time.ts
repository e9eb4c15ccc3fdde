import type { Clock } from '../../src/http/clock.ts';

/**
 * One time for the bot, Slack and both APIs. It stands still until somebody waits: then it has
 * passed at once, for everybody, and whoever had set a deadline within it has missed it.
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
  const clock: Clock = {
    now: () => nowMs,
    sleep: async (ms) => pass(ms),
    timeout: (ms) => {
      const miss = new AbortController();
      deadlines = [...deadlines, { at: nowMs + ms, miss }];
      return miss.signal;
    },
    random: () => 0.5,
  };
  return { now: () => new Date(nowMs), pass, clock };
}
