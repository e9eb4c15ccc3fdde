import { createHash, timingSafeEqual } from 'node:crypto';
import type { Call } from '../api/call.ts';
import type { createRateLimiter } from '../api/rate-limit.ts';
import { jsonReply, type Reply } from '../api/reply.ts';
import { cloudRefusal } from './replies.ts';
import type { ApiKey, CloudState } from './state.ts';

type Limiter = ReturnType<typeof createRateLimiter>;

/** Checks the key, its rate limit and its permissions; null when the call is allowed. */
export function checkCloudAccess(cloud: CloudState, limiter: Limiter, call: Call): Reply | null {
  const key = keyOf(cloud, call);
  // This is the only reply of live servers without a request id.
  if (key === null) {
    return jsonReply(401, { error: 'UNAUTHORIZED: Key is not found', status: 401 });
  }
  if (!key.active) return cloudRefusal(cloud, 401, 'UNAUTHORIZED: Key is not active');
  const limited = rateLimitReply(cloud, limiter, key);
  if (limited !== null) return limited;
  if (key.denied.includes(call.operation)) return forbidden(cloud, call.operation);
  if (key.role === 'developer' && call.method !== 'GET') return forbidden(cloud, call.operation);
  return null;
}

function forbidden(cloud: CloudState, operation: string): Reply {
  return cloudRefusal(cloud, 403, `FORBIDDEN: The key has no permission for: ${operation}`);
}

function keyOf(cloud: CloudState, call: Call): ApiKey | null {
  const [id, secret] = credentialsOf(call);
  const key = cloud.keys.get(id);
  return key !== undefined && sameSecret(key.secret, secret) ? key : null;
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

function rateLimitReply(cloud: CloudState, limiter: Limiter, key: ApiKey): Reply | null {
  const { rateLimit } = cloud.behaviour;
  if (rateLimit === null) return null;
  const { allowed, resetMs } = limiter(key.id, rateLimit, cloud.now());
  if (allowed) return null;
  const headers = { 'x-ratelimit-reset': String(resetMs / 1_000) };
  return jsonReply(429, { status: 429, error: 'Rate limit exceeded' }, headers);
}
