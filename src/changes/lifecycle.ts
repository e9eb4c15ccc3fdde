import type { Change, Ending, RoleName, UserId } from './change.ts';
import type { Refusal } from './refusal.ts';

export type Outcome =
  | { readonly ok: true; readonly change: Change }
  | { readonly ok: false; readonly refusal: Refusal };

/** Whoever acts, with the roles that were read of them just now. */
export interface Actor {
  readonly id: UserId;
  readonly roles: readonly RoleName[];
}

/** The wait before a question that nobody answers is withdrawn. */
export const DRAFT_LIVES_MS = 30 * 60_000;

export function confirm(change: Change, actor: Actor, now: Date): Outcome {
  if (change.requester !== actor.id) return refuse('not-requester');
  if (change.state !== 'draft') return refuse('not-draft');
  if (now >= change.expiresAt) return refuse('expired');

  const expiresAt = new Date(now.getTime() + change.requires.expiresAfterMs);
  return move({ ...change, expiresAt, state: change.requires.count > 0 ? 'pending' : 'approved' });
}

export function approve(change: Change, approver: Actor, now: Date): Outcome {
  const refusal = notDecidable(change, now) ?? notApprovable(change, approver);
  if (refusal) return refuse(refusal);

  const approvals = [...change.approvals, { by: approver.id, at: now }];
  const enough = approvals.length >= change.requires.count;
  return move({ ...change, approvals, state: enough ? 'approved' : 'pending' });
}

function notDecidable(change: Change, now: Date): Refusal | null {
  if (change.state !== 'pending') {
    return change.state === 'draft' ? 'not-pending' : 'already-decided';
  }
  return now >= change.expiresAt ? 'expired' : null;
}

function notApprovable(change: Change, approver: Actor): Refusal | null {
  if (approver.id === change.requester && !change.requires.self) return 'self-approval';
  if (change.approvals.some(({ by }) => by === approver.id)) return 'already-approved';
  return mayDecide(change, approver) ? null : 'not-an-approver';
}

function mayDecide(change: Change, actor: Actor): boolean {
  return change.requires.from !== null && actor.roles.includes(change.requires.from);
}

export function reject(change: Change, actor: Actor, reason: string, now: Date): Outcome {
  const refusal = notDecidable(change, now);
  if (refusal) return refuse(refusal);
  if (!mayDecide(change, actor)) return refuse('not-an-approver');
  if (reason.trim() === '') return refuse('reason-required');

  return move({ ...change, rejection: { by: actor.id, at: now, reason }, state: 'rejected' });
}

export function cancel(change: Change, actor: Actor): Outcome {
  if (change.requester !== actor.id) return refuse('not-requester');
  if (!['draft', 'pending', 'approved'].includes(change.state)) return refuse('already-decided');

  return move({ ...change, cancelledBy: actor.id, state: 'cancelled' });
}

export function expire(change: Change, now: Date): Outcome {
  if (!['draft', 'pending', 'approved'].includes(change.state)) return refuse('already-decided');
  if (now < change.expiresAt) return refuse('too-early');

  return move({ ...change, state: 'expired' });
}

/** The permit to send is committed with this move, and only its committer may send. */
export function start(change: Change, lease: NonNullable<Change['lease']>, now: Date): Outcome {
  if (change.state !== 'approved') return refuse('not-approved');
  if (now >= change.expiresAt) return refuse('expired');
  if (change.notBefore && now < change.notBefore) return refuse('too-early');

  return move({ ...change, lease, state: 'executing' });
}

/** Approved, and yet not to be run: the world or the policy has moved since. */
export function stop(change: Change, state: 'stale' | 'denied', why: Refusal): Outcome {
  if (change.state !== 'approved') return refuse('not-approved');

  return move({ ...change, stopped: why, state });
}

/** Surely nothing was executed, so that the claim may be made again, with all its checks. */
export function handBack(change: Change, notBefore: Date): Outcome {
  if (change.state !== 'executing') return refuse('not-executing');

  return move({ ...change, lease: null, notBefore, state: 'approved' });
}

export function finish(change: Change, ending: Ending): Outcome {
  if (change.state !== 'executing') return refuse('not-executing');

  return move({ ...change, lease: null, ending, state: ending.how });
}

/** The sender died or hangs: nobody can say what became of its request. */
export function giveUp(change: Change, now: Date): Outcome {
  if (change.state !== 'executing') return refuse('not-executing');
  if (change.lease && now < change.lease.until) return refuse('too-early');

  const text = 'Signalbox stopped while the request was under way.';
  return finish(change, {
    how: 'unknown',
    at: now,
    tookMs: 0,
    requestId: null,
    status: null,
    text,
  });
}

/** A person looked and says what happened; the note is what makes it checkable. */
export function resolve(
  change: Change,
  actor: Actor,
  answer: { happened: boolean; note: string },
  now: Date,
): Outcome {
  if (change.state !== 'unknown') return refuse('not-unknown');
  if (!mayResolve(change, actor)) return refuse('not-an-approver');
  if (answer.note.trim() === '') return refuse('note-required');

  const resolution = { by: actor.id, at: now, ...answer };
  return move({ ...change, resolution, state: answer.happened ? 'succeeded' : 'failed' });
}

// The requester alone may not declare "it did not happen": that would unlock the target for a
// second try without anybody else having looked.
function mayResolve(change: Change, actor: Actor): boolean {
  const role = change.requires.from ?? change.requires.to;
  if (!actor.roles.includes(role)) return false;
  return change.requires.from === null || change.requires.self || actor.id !== change.requester;
}

function move(change: Change): Outcome {
  return { ok: true, change: { ...change, version: change.version + 1 } };
}

function refuse(refusal: Refusal): Outcome {
  return { ok: false, refusal };
}
