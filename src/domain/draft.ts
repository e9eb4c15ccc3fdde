// How a change begins: as the draft of a request, or approved together with an earlier change. Both
// get the plan digest, to which approvals are bound.

import { hash } from 'node:crypto';
import { cached } from '../base/cache.ts';
import { canonical } from '../base/text.ts';
import { MINUTE_MS } from '../base/time.ts';
import type { Change, ChangeId, Plan } from './change.ts';

/** A draft expires after this time without confirmation. */
const DRAFT_LIFETIME_MS = 30 * MINUTE_MS;

/** What a request determines; every other field of a draft is empty. */
type DraftFields = Pick<
  Change,
  'id' | 'command' | 'requester' | 'reason' | 'plan' | 'requires' | 'origin'
>;

/** Returns the change of a request that its requester has not confirmed yet. */
export function draftChange(given: DraftFields, now: Date): Change {
  // The databases store U+FFFD instead of half an emoji, and the digest covers what they store.
  const fields = { ...given, reason: given.reason?.toWellFormed() ?? null };
  return {
    ...fields,
    digest: planDigest(fields),
    state: 'draft',
    version: 1,
    approvals: [],
    rejection: null,
    cancelledBy: null,
    stopReason: null,
    outcome: null,
    resolution: null,
    breakGlass: null,
    review: null,
    createdAt: now,
    confirmedAt: null,
    expiresAt: new Date(now.getTime() + DRAFT_LIFETIME_MS),
    notBefore: null,
    revertAt: null,
    parent: null,
    lease: null,
    card: null,
  };
}

/** What differs between a change and the one with which it was approved. */
interface OwnFields {
  readonly id: ChangeId;
  readonly command: string;
  readonly plan: Plan;
  readonly now: Date;
  readonly notBefore: Date;
  readonly expiresAt: Date;
  /** The change that it reverts; null for any other change. */
  readonly parent: ChangeId | null;
}

/** Every property of a change, so that a new one does not compile until `inheritChange` decides on it. */
type EveryField = { readonly [Field in keyof Required<Change>]: Change[Field] };

/**
 * Returns an approved change that was requested and approved together with an earlier one: a revert,
 * or the run of a schedule. It inherits requester, reason, requirement and approvals, and nothing else.
 */
export function inheritChange(approved: Change, own: OwnFields): Change {
  const { id, command, plan, now, notBefore, expiresAt, parent } = own;
  const { requester, reason, requires } = approved;
  const change: EveryField = {
    id,
    command,
    requester,
    reason,
    plan,
    digest: planDigest({ command, requester, reason, plan, requires }),
    requires,
    state: 'approved',
    version: 1,
    approvals: approved.approvals,
    rejection: null,
    cancelledBy: null,
    stopReason: null,
    frozenBy: undefined,
    stateCheck: undefined,
    outcome: null,
    resolution: null,
    breakGlass: approved.breakGlass,
    review: null,
    createdAt: now,
    confirmedAt: approved.confirmedAt,
    expiresAt,
    notBefore,
    revertAt: null,
    parent,
    child: undefined,
    followUp: undefined,
    lease: null,
    origin: approved.origin,
    card: null,
  };
  return change;
}

/** What users see of a request, and what authorises it. */
type DigestedRequest = Pick<Change, 'command' | 'requester' | 'reason' | 'plan' | 'requires'>;

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

const DIGESTS_KEPT = 200;

/** A change has the same text each time that its digest is compared. */
const digestOf = cached(
  DIGESTS_KEPT,
  (json: string) => DIGEST_PREFIX + hash('sha256', canonical(JSON.parse(json))),
);
