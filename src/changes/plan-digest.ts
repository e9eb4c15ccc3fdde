import { hash } from 'node:crypto';
import { cached } from '../base/cache.ts';
import type { Json } from '../base/text.ts';
import type { Change } from './change.ts';

/** Returns JSON with sorted keys, so that equal values have equal text. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}

/** What users see of a request, and what authorises it. */
type DigestedRequest = Pick<Change, 'command' | 'requester' | 'reason' | 'plan' | 'requires'>;

const DIGESTS_KEPT = 200;

/** Marks what a digest covers. Release 1.0 wrote digests without it, which covered less. */
export const DIGEST_PREFIX = '2:';

/** Returns the SHA-256 hash to which approvals and audit events are bound. */
export function planDigest({
  command,
  requester,
  reason,
  plan,
  requires,
}: DigestedRequest): string {
  // Through JSON text, so that a date and a missing key are as they are in the database.
  return digestOf(JSON.stringify({ command, requester, reason, plan, requires }));
}

/** A change has the same text each time that its digest is compared. */
const digestOf = cached(
  DIGESTS_KEPT,
  (json: string) => DIGEST_PREFIX + hash('sha256', canonical(JSON.parse(json))),
);
