import { type Change, isEnded, type Resolution } from './change.ts';
import type { Evidence } from './follow-up.ts';
import { finish, mayDecide, revertTime } from './lifecycle.ts';
import { type Actor, move, refuse, type Transition } from './outcome.ts';
import type { Requirement, RoleName } from './requirement.ts';

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
