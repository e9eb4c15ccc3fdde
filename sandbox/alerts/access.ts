import type { Call } from '../api/call.ts';
import type { createRateLimiter } from '../api/rate-limit.ts';
import { htmlReply, type Reply, textReply } from '../api/reply.ts';
import { alertsRefusal } from './replies.ts';
import type { AlertsState } from './state.ts';

type Limiter = ReturnType<typeof createRateLimiter>;

/** Checks the rate limit before the token, so that it also limits guesses of tokens. */
export function checkAlertsAccess(
  state: AlertsState,
  limiter: Limiter,
  { headers }: Call,
): Reply | null {
  const authorization = headers.authorization ?? '';
  const limited = rateLimitReply(state, limiter, authorization);
  if (limited !== null) return limited;
  // The server splits at this exact text, so it does not accept `bearer` in lower case.
  const token = state.tokens.get(authorization.split('Bearer ')[1] ?? '');
  if (token === undefined) return textReply(401, 'Unauthorized');
  return token.hasTeam ? null : alertsRefusal(403, 'Forbidden');
}

function rateLimitReply(state: AlertsState, limiter: Limiter, key: string): Reply | null {
  const { rateLimit } = state;
  if (rateLimit === null) return null;
  const { allowed, remaining, resetMs } = limiter(key, rateLimit, state.now());
  if (allowed) return null;
  return htmlReply(429, 'Too many requests, please try again later.', {
    'ratelimit-limit': String(rateLimit.requests),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(Math.ceil(resetMs / 1_000)),
    'retry-after': String(Math.ceil(rateLimit.perMs / 1_000)),
  });
}
