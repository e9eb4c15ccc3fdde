import { createHash } from 'node:crypto';
import type { Json, Plan } from './change.ts';

/** Returns JSON with sorted keys, so that equal values have equal text. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}

/** Returns the SHA-256 hash to which approvals and audit events are bound. */
export function planDigest(command: string, plan: Plan): string {
  const { kind, id } = plan.target;
  const before = plan.before?.fields ?? null;
  // A plan without timing keeps the digest that it had before timed changes existed. The hashed key
  // of the revert is `back`: renaming it would invalidate every stored approval.
  const { startAt, revert } = plan.timing ?? {};
  const timing = plan.timing && { timing: { startAt: startAt ?? null, back: { ...revert } } };
  const text = canonical({ command, target: [kind, id], body: plan.body, before, ...timing });
  return createHash('sha256').update(text).digest('hex');
}
