import type { Json } from '../../protocol.ts';

const MINUTE_MS = 60_000;

export interface RateLimits {
  /** 0 when the call may go ahead, and then it counts. */
  readonly secondsToWait: (method: string, perMinute: number, args: Json) => number;
}

export const unlimited: RateLimits = { secondsToWait: () => 0 };

/** Slack's tiers per method and minute, and about one posted message per second and channel. */
export function slackLimits(now: () => Date): RateLimits {
  const seen = new Map<string, number[]>();
  const lastPost = new Map<string, number>();
  return {
    secondsToWait(method, perMinute, args) {
      const at = now().getTime();
      const recent = (seen.get(method) ?? []).filter((time) => time > at - MINUTE_MS);
      const [oldest] = recent;
      if (recent.length >= perMinute && oldest !== undefined) {
        return Math.ceil((oldest + MINUTE_MS - at) / 1000);
      }
      if (method === 'chat.postMessage') {
        const channel = String(args.channel);
        if (at - (lastPost.get(channel) ?? Number.NEGATIVE_INFINITY) < 1000) return 1;
        lastPost.set(channel, at);
      }
      seen.set(method, [...recent, at]);
      return 0;
    },
  };
}
