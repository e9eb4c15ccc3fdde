import type { Change, ExecutionOutcome, StateCheck } from './change.ts';
import { type Actor, move, refuse, type Transition } from './outcome.ts';
import { planDigest } from './plan-digest.ts';
import type { Refusal } from './refusal.ts';
import type { RoleName } from './requirement.ts';

/** A draft expires after this time without confirmation, in milliseconds. */
export const DRAFT_LIFETIME_MS = 30 * 60_000;

/** A timed change may start this late, in milliseconds; later, users do not expect it any more. */
export const START_GRACE_MS = 3_600_000;

/** What a request determines; every other field of a draft is empty. */
type DraftFields = Pick<
  Change,
  'id' | 'command' | 'requester' | 'reason' | 'plan' | 'requires' | 'origin'
>;

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
    expiresAt: after(now, DRAFT_LIFETIME_MS),
    notBefore: null,
    revertAt: null,
    parent: null,
    lease: null,
    card: null,
  };
}

export function confirm(change: Change, actor: Actor, now: Date): Transition {
  if (change.requester !== actor.id) return refuse('not-requester');
  if (change.state !== 'draft') return refuse('not-draft');
  if (now >= change.expiresAt) return refuse('expired');
  const startAt = startOf(change);
  if (startAt && now >= startAt) return refuse('too-late');

  const confirmed = { ...change, confirmedAt: now };
  if (change.requires.count === 0) return move(approved(confirmed, now));
  const expiresAt = after(now, change.requires.expiresAfterMs);
  // An approval after the scheduled time would run the change at another time.
  const decideBy = startAt && startAt < expiresAt ? startAt : expiresAt;
  return move({ ...confirmed, expiresAt: decideBy, state: 'pending' });
}

/** A timed change waits for its start, and expires if it cannot start soon after it. */
function approved(change: Change, now: Date): Change {
  const startAt = startOf(change);
  const expiresAt = startAt
    ? after(startAt, START_GRACE_MS)
    : change.state === 'draft'
      ? after(now, change.requires.expiresAfterMs)
      : change.expiresAt;
  return { ...change, expiresAt, notBefore: startAt, state: 'approved' };
}

function startOf({ plan }: Change): Date | null {
  const startAt = plan.timing?.startAt;
  return startAt ? new Date(startAt) : null;
}

function after(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms);
}

export function approve(change: Change, approver: Actor, now: Date): Transition {
  const refusal = notDecidable(change, now) ?? notApprovable(change, approver, now);
  if (refusal) return refuse(refusal);

  const approvals = [...change.approvals, { by: approver.id, at: now }];
  const enough = approvals.length >= change.requires.count;
  return move(enough ? approved({ ...change, approvals }, now) : { ...change, approvals });
}

function notDecidable(change: Change, now: Date): Refusal | null {
  if (change.state !== 'pending') {
    return change.state === 'draft' ? 'not-pending' : 'already-decided';
  }
  return now >= change.expiresAt ? 'expired' : null;
}

function notApprovable(change: Change, approver: Actor, now: Date): Refusal | null {
  if (approver.id === change.requester && !change.requires.self) return 'self-approval';
  if (change.approvals.some(({ by }) => by === approver.id)) return 'already-approved';
  return mayDecide(change, approver, now) ? null : 'not-an-approver';
}

/** Whether a role of the user may decide now. */
export function mayDecide(change: Change, actor: Actor, now: Date): boolean {
  return decidingRoles(change, now).some((role) => actor.roles.includes(role));
}

/** Returns the roles that may decide now: the escalation role joins after its wait. */
export function decidingRoles(
  { requires, confirmedAt }: Pick<Change, 'requires' | 'confirmedAt'>,
  now: Date,
): readonly RoleName[] {
  const { from, escalation } = requires;
  if (from === null) return [];
  const waited = confirmedAt ? now.getTime() - confirmedAt.getTime() : 0;
  return escalation && waited >= escalation.afterMs ? [from, escalation.to] : [from];
}

/** Skips the approvals, if the rule allows the requester to use break-glass. */
export function breakGlass(change: Change, actor: Actor, reason: string, now: Date): Transition {
  if (change.requester !== actor.id) return refuse('not-requester');
  if (!['draft', 'pending'].includes(change.state)) return refuse('already-decided');
  if (now >= change.expiresAt) return refuse('expired');
  const role = change.requires.breakGlass;
  if (role === null) return refuse('no-break-glass');
  if (!actor.roles.includes(role)) return refuse('may-not-break-glass');
  if (reason.trim() === '') return refuse('reason-required');

  const confirmedAt = change.confirmedAt ?? now;
  return move({
    ...approved({ ...change, confirmedAt }, now),
    breakGlass: { by: actor.id, at: now, reason },
  });
}

export function reject(change: Change, actor: Actor, reason: string, now: Date): Transition {
  const refusal = notDecidable(change, now);
  if (refusal) return refuse(refusal);
  if (!mayDecide(change, actor, now)) return refuse('not-an-approver');
  if (reason.trim() === '') return refuse('reason-required');

  return move({ ...change, rejection: { by: actor.id, at: now, reason }, state: 'rejected' });
}

export function cancel(change: Change, actor: Actor): Transition {
  if (change.requester !== actor.id) return refuse('not-requester');
  if (!isUnsent(change)) return refuse('already-decided');

  return move({ ...change, cancelledBy: actor.id, state: 'cancelled' });
}

function isUnsent({ state }: Change): boolean {
  return ['draft', 'pending', 'approved'].includes(state);
}

export function expire(change: Change, now: Date): Transition {
  if (!isUnsent(change)) return refuse('already-decided');
  if (now < change.expiresAt) return refuse('too-early');

  return move({ ...change, state: 'expired' });
}

/** The claim: commit it together with the permit. Only the process that commits may send. */
export function start(
  change: Change,
  lease: NonNullable<Change['lease']>,
  now: Date,
  stateCheck?: StateCheck,
): Transition {
  if (change.state !== 'approved') return refuse('not-approved');
  if (now >= change.expiresAt) return refuse('expired');
  if (change.notBefore && now < change.notBefore) return refuse('too-early');

  return move({ ...change, lease, stateCheck, state: 'executing' });
}

/** Ends a change that was not sent, because the target or the policy changed. */
export function stop(
  change: Change,
  state: 'stale' | 'denied',
  why: Refusal,
  found: Pick<Change, 'frozenBy' | 'stateCheck'> = {},
): Transition {
  if (!isUnsent(change)) return refuse('already-decided');

  return move({ ...change, stopReason: why, ...found, state });
}

/** Nothing was executed, so that the change can be claimed again, with all checks. */
export function returnPermit(change: Change, notBefore: Date): Transition {
  if (change.state !== 'executing') return refuse('not-executing');

  return move({ ...change, lease: null, notBefore, state: 'approved' });
}

export function finish(change: Change, outcome: ExecutionOutcome): Transition {
  if (change.state !== 'executing') return refuse('not-executing');

  const revertAt = outcome.how === 'succeeded' ? revertTime(change, outcome.at) : null;
  return move({ ...change, lease: null, outcome, revertAt, state: outcome.how });
}

/** A revert may run this late, in milliseconds: late is better than never. */
export const REVERT_GRACE_MS = 24 * 3_600_000;

/** Returns when the revert is due, counted from `at`; null for a change without a revert. */
export function revertTime({ plan }: Change, at: Date): Date | null {
  const revert = plan.timing?.revert;
  return revert ? after(at, revert.afterMs) : null;
}
