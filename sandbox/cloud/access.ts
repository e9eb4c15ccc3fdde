import { createHash, timingSafeEqual } from 'node:crypto';
import type { Call } from '../api/call.ts';
import type { createRateLimiter } from '../api/rate-limit.ts';
import { jsonReply, Refused } from '../api/reply.ts';
import { refuse } from './replies.ts';
import type { ApiKey, CloudState } from './state.ts';

type Limiter = ReturnType<typeof createRateLimiter>;

/** Checks the key, its rate limit and its permissions. */
export function checkCloudAccess(cloud: CloudState, limiter: Limiter, call: Call): void {
  const { operation, method } = call;
  const key = keyOf(cloud, call);
  if (!key.active) refuse(cloud, 401, 'UNAUTHORIZED: Key is not active');
  checkRateLimit(cloud, limiter, key);
  if (key.denied.includes(operation) || (key.role === 'developer' && method !== 'GET'))
    refuse(cloud, 403, `FORBIDDEN: The key has no permission for: ${operation}`);
}

function keyOf(cloud: CloudState, call: Call): ApiKey {
  const [id, secret] = credentialsOf(call);
  const key = cloud.keys.get(id);
  if (key !== undefined && sameSecret(key.secret, secret)) return key;
  // This is the only reply of live servers without a request id.
  throw new Refused(jsonReply(401, { error: 'UNAUTHORIZED: Key is not found', status: 401 }));
}

/** The id of the key with which the call was sent; empty without one. */
export function keyIdOf(call: Call): string {
  return credentialsOf(call)[0];
}

function credentialsOf({ headers }: Call): readonly [id: string, secret: string] {
  const [scheme = '', encoded = ''] = (headers.authorization ?? '').split(' ');
  if (scheme.toLowerCase() !== 'basic') return ['', ''];
  const [id = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  return [id, rest.join(':')];
}

function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function checkRateLimit(cloud: CloudState, limiter: Limiter, key: ApiKey): void {
  const { rateLimit } = cloud.behaviour;
  if (rateLimit === null) return;
  const { allowed, resetMs } = limiter(key.id, rateLimit, cloud.now());
  if (allowed) return;
  const headers = { 'x-ratelimit-reset': String(resetMs / 1_000) };
  throw new Refused(jsonReply(429, { status: 429, error: 'Rate limit exceeded' }, headers));
}
