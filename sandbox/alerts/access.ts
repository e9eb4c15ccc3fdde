import type { Call } from '../api/call.ts';
import type { createRateLimiter } from '../api/rate-limit.ts';
import { htmlReply, Refused, textReply } from '../api/reply.ts';
import { refuse } from './replies.ts';
import type { AlertsState } from './state.ts';

type Limiter = ReturnType<typeof createRateLimiter>;

/** Checks the rate limit before the token, so that it also limits guesses of tokens. */
export function checkAlertsAccess(state: AlertsState, limiter: Limiter, { headers }: Call): void {
  const authorization = headers.authorization ?? '';
  checkRateLimit(state, limiter, authorization);
  // The server splits at this exact text, so it does not accept `bearer` in lower case.
  const token = state.tokens.get(authorization.split('Bearer ')[1] ?? '');
  if (token === undefined) throw new Refused(textReply(401, 'Unauthorized'));
  if (!token.hasTeam) refuse(403, 'Forbidden');
}

function checkRateLimit({ rateLimit, now }: AlertsState, limiter: Limiter, key: string): void {
  if (rateLimit === null) return;
  const { allowed, remaining, resetMs } = limiter(key, rateLimit, now());
  if (allowed) return;
  const headers = {
    'ratelimit-limit': String(rateLimit.requests),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(Math.ceil(resetMs / 1_000)),
    'retry-after': String(Math.ceil(rateLimit.perMs / 1_000)),
  };
  throw new Refused(htmlReply(429, 'Too many requests, please try again later.', headers));
}
