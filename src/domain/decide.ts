// The moves of a change from state to state. Each returns the moved change, or the refusal of a move
// that its state, its time or the user does not allow. None of them reads the policy.

import { HOUR_MS } from '../base/time.ts';
import {
  type Actor,
  type Change,
  type Evidence,
  type ExecutionOutcome,
  isEnded,
  type Refusal,
  type Requirement,
  type Resolution,
  type RoleName,
  type StateCheck,
  type Transition,
} from './change.ts';

/** The requester confirms the draft: it waits for approvals, or is approved if it needs none. */
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

/** Every move increases the version. */
function move(change: Change): Transition {
  return { ok: true, change: { ...change, version: change.version + 1 } };
}

function refuse(refusal: Refusal): Transition {
  return { ok: false, refusal };
}

/** A timed change may start this late, in milliseconds; later, users do not expect it any more. */
export const START_GRACE_MS = HOUR_MS;

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

/** One more approval; with enough of them the change is approved. */
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
function mayDecide(change: Change, actor: Actor, now: Date): boolean {
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

/** The requester skips the approvals, if the rule allows break-glass. */
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

/** An approver rejects the change, with a reason. */
export function reject(change: Change, actor: Actor, reason: string, now: Date): Transition {
  const refusal = notDecidable(change, now);
  if (refusal) return refuse(refusal);
  if (!mayDecide(change, actor, now)) return refuse('not-an-approver');
  if (reason.trim() === '') return refuse('reason-required');

  return move({ ...change, rejection: { by: actor.id, at: now, reason }, state: 'rejected' });
}

/** The requester cancels a change that was not sent. */
export function cancel(change: Change, actor: Actor): Transition {
  if (change.requester !== actor.id) return refuse('not-requester');
  if (!isUnsent(change)) return refuse('already-decided');

  return move({ ...change, cancelledBy: actor.id, state: 'cancelled' });
}

function isUnsent({ state }: Change): boolean {
  return ['draft', 'pending', 'approved'].includes(state);
}

/** Ends a change that nobody decided, or that could not start, in time. */
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

/** The request ended, so that its outcome is recorded. */
export function finish(change: Change, outcome: ExecutionOutcome): Transition {
  if (change.state !== 'executing') return refuse('not-executing');

  const revertAt = outcome.how === 'succeeded' ? revertTime(change, outcome.at) : null;
  return move({ ...change, lease: null, outcome, revertAt, state: outcome.how });
}

/** Returns when the revert is due, counted from `at`; null for a change without a revert. */
function revertTime({ plan }: Change, at: Date): Date | null {
  const revert = plan.timing?.revert;
  return revert ? after(at, revert.afterMs) : null;
}

/** A revert may run this late, in milliseconds: late is better than never. */
export const REVERT_GRACE_MS = 24 * HOUR_MS;

/** The revert cannot be planned any more: the requester is notified and decides. */
export function abandonRevert(change: Change): Transition {
  if (change.state !== 'succeeded' || change.revertAt === null) return refuse('already-decided');

  return move({ ...change, revertAt: null });
}

/**
 * The database was restored from an older copy, or a gap of the audit trail was accepted, so that no
 * open change may continue.
 */
export function invalidateOpenChange(change: Change, why: 'restored' | 'gap-accepted'): Transition {
  if (isEnded(change)) return refuse('already-decided');

  return move({ ...change, lease: null, stopReason: why, state: 'stale' });
}

/** The sender crashed or hangs, so that the outcome of its request is unknown. */
export function markUnknown(change: Change, now: Date): Transition {
  if (change.lease && now < change.lease.until) return refuse('too-early');
  return markAbandoned(change, now);
}

/** The process that sent the request has certainly ended, so that its lease does not count. */
export function markAbandoned(change: Change, now: Date): Transition {
  if (change.state !== 'executing') return refuse('not-executing');

  const text = 'Signalbox stopped before the response arrived.';
  return finish(change, {
    how: 'unknown',
    at: now,
    tookMs: 0,
    requestId: null,
    status: null,
    text,
  });
}

interface OutcomeReport {
  readonly happened: boolean;
  /** What the user found. */
  readonly note: string;
  /** What the current rule for the command and the target requires; null if no rule decides it. */
  readonly current: Requirement | null;
}

/** A user verified the target and records the outcome. */
export function resolve(
  change: Change,
  actor: Actor,
  { happened, note, current }: OutcomeReport,
  now: Date,
): Transition {
  if (change.state !== 'unknown') return refuse('not-unknown');
  if (!mayResolve(change, actor, current)) return refuse('not-an-approver');
  if (note.trim() === '') return refuse('note-required');

  return resolved(change, { by: actor.id, at: now, happened, note });
}

function resolved(change: Change, resolution: Resolution): Transition {
  const { happened } = resolution;
  // Counted from the request: an unknown outcome must not extend the time until the revert.
  const revertAt = happened && change.outcome ? revertTime(change, change.outcome.at) : null;
  return move({ ...change, resolution, revertAt, state: happened ? 'succeeded' : 'failed' });
}

/**
 * A reading shows that the request was applied. There is no such move to `failed`: a reading never
 * proves that a request was not applied.
 */
export function settleByEvidence(change: Change, evidence: Evidence, now: Date): Transition {
  if (change.state !== 'unknown') return refuse('not-unknown');
  const note = 'The target shows what was requested, and did not before.';
  return resolved(change, { by: 'signalbox', at: now, happened: true, note, evidence });
}

// By the current rule as well: the role of the request may have been renamed or removed, and the
// target would stay locked.
function mayResolve(change: Change, actor: Actor, current: Requirement | null): boolean {
  const roles = resolvingRoles(change, current);
  if (!roles.some((role) => actor.roles.includes(role))) return false;
  // The requester alone must not answer "It did not happen": that would unlock the target for a
  // second attempt without a check by another person.
  return change.requires.from === null || change.requires.self || actor.id !== change.requester;
}

/** Returns the roles that may resolve an unknown outcome, those of the current rule last. */
export function resolvingRoles(
  { requires }: Pick<Change, 'requires'>,
  current: Requirement | null,
): readonly RoleName[] {
  const roles = [requires, current].flatMap((each) => (each ? [each.from ?? each.to] : []));
  return [...new Set(roles)];
}

/** Delays the reminders of a change that waits for approvers. Only its version moves. */
export function snooze(
  change: Change,
  actor: Actor,
  current: Requirement | null,
  now: Date,
): Transition {
  if (!['pending', 'unknown'].includes(change.state)) return refuse('already-decided');
  const isExpired = change.state === 'pending' && now >= change.expiresAt;
  if (isExpired) return refuse('expired');
  const isOwn = actor.id === change.requester && !change.requires.self;
  const may =
    change.state === 'unknown'
      ? mayResolve(change, actor, current)
      : !isOwn && mayDecide(change, actor, now);
  return may ? move(change) : refuse('not-an-approver');
}

/** Another person reviews a break-glass change after it ended. */
export function review(change: Change, actor: Actor, note: string, now: Date): Transition {
  if (change.breakGlass === null) return refuse('no-break-glass');
  if (!isEnded(change)) return refuse('not-ended');
  if (change.review !== null) return refuse('already-reviewed');
  if (actor.id === change.breakGlass.by) return refuse('self-approval');
  const { from, breakGlass: role } = change.requires;
  if (![from, role].some((each) => each !== null && actor.roles.includes(each))) {
    return refuse('not-an-approver');
  }
  if (note.trim() === '') return refuse('note-required');

  return move({ ...change, review: { by: actor.id, at: now, note } });
}
