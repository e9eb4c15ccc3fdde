import type { Json } from '../../json.ts';

const MINUTE_MS = 60_000;

export interface RateLimits {
  /** The seconds until the call is allowed; 0 when it is allowed now, and then it counts. */
  readonly secondsToWait: (method: string, perMinute: number, args: Json) => number;
}

export const unlimited: RateLimits = { secondsToWait: () => 0 };

/** Slack's tiers per method and minute, and one posted message per second and channel. */
export function slackRateLimits(now: () => Date): RateLimits {
  const calls = new Map<string, number[]>();
  const lastPost = new Map<string, number>();
  return {
    secondsToWait(method, perMinute, args) {
      const at = now().getTime();
      const recent = (calls.get(method) ?? []).filter((time) => time > at - MINUTE_MS);
      const [oldest] = recent;
      if (recent.length >= perMinute && oldest !== undefined) {
        return Math.ceil((oldest + MINUTE_MS - at) / 1000);
      }
      if (method === 'chat.postMessage') {
        const channel = String(args.channel);
        if (at - (lastPost.get(channel) ?? Number.NEGATIVE_INFINITY) < 1000) return 1;
        lastPost.set(channel, at);
      }
      calls.set(method, [...recent, at]);
      return 0;
    },
  };
}
