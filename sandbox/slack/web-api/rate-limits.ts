import { createRateLimiter, type RateLimit } from '../../api/rate-limit.ts';
import type { Json } from '../../json.ts';
import type { SlackState } from '../state.ts';
import { postedTo } from './channels.ts';
import { type Method, type Tier, text } from './method.ts';

/** `hard` allows exactly the documented calls; `with-bursts` tolerates short bursts, as Slack does. */
export type RateLimits = 'hard' | 'with-bursts';

/** The seconds until the call is allowed; 0 when it is allowed now, and then it counts. */
export type SecondsToWait = (name: string, method: Method, args: Json) => number;

/** Calls per minute, and the additional calls of a burst. Slack publishes no size of a burst. */
const PER_MINUTE: Readonly<Record<Tier, { readonly calls: number; readonly burst: number }>> = {
  'tier 1': { calls: 1, burst: 4 },
  'tier 2': { calls: 20, burst: 10 },
  'tier 3': { calls: 50, burst: 25 },
  'tier 4': { calls: 100, burst: 100 },
  // "Hundreds of requests per minute", and "several hundred messages per minute".
  special: { calls: 600, burst: 0 },
  posting: { calls: 300, burst: 0 },
};

/** One message per second and channel; a burst uses the seconds that follow it. */
const PER_CHANNEL: Readonly<Record<RateLimits, RateLimit>> = {
  hard: { requests: 1, perMs: 1_000 },
  'with-bursts': { requests: 5, perMs: 5_000 },
};

/** Limits the calls of each method by the clock of the simulator; null limits nothing. */
export function slackRateLimits(slack: SlackState, limits: RateLimits | null): SecondsToWait {
  const admit = createRateLimiter();
  const secondsUntil = (key: string, limit: RateLimit) => {
    const { allowed, resetMs } = admit(key, limit, slack.now());
    return allowed ? 0 : Math.ceil(resetMs / 1000);
  };
  return (name, { tier }, args) => {
    if (limits === null) return 0;
    const { calls, burst } = PER_MINUTE[tier];
    const requests = limits === 'hard' ? calls : calls + burst;
    const seconds = secondsUntil(name, { requests, perMs: 60_000 });
    if (seconds > 0 || tier !== 'posting') return seconds;
    return secondsUntil(`${name} ${channelOf(slack, args)}`, PER_CHANNEL[limits]);
  };
}

/** The channel's id, also where the call has its name or the id of a user. */
function channelOf(slack: SlackState, args: Json): string {
  const channel = text(args, 'channel') ?? '';
  return postedTo(slack, channel)?.id ?? channel;
}
