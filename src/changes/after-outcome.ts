import { type Change, isEnded } from './change.ts';
import { finish, revertTime } from './lifecycle.ts';
import { type Actor, move, refuse, type Transition } from './outcome.ts';

/** The revert cannot be planned any more: the requester is notified and decides. */
export function abandonRevert(change: Change): Transition {
  if (change.state !== 'succeeded' || change.revertAt === null) return refuse('already-decided');

  return move({ ...change, revertAt: null });
}

/** The database was restored from an older copy, so that no open change may continue. */
export function invalidateAfterRestore(change: Change): Transition {
  if (isEnded(change)) return refuse('already-decided');

  return move({ ...change, lease: null, stopReason: 'restored', state: 'stale' });
}

/** The sender crashed or hangs, so that the outcome of its request is unknown. */
export function markUnknown(change: Change, now: Date): Transition {
  if (change.state !== 'executing') return refuse('not-executing');
  if (change.lease && now < change.lease.until) return refuse('too-early');

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

/** A user verified the target and records the outcome; the note says what they found. */
export function resolve(
  change: Change,
  actor: Actor,
  answer: { happened: boolean; note: string },
  now: Date,
): Transition {
  if (change.state !== 'unknown') return refuse('not-unknown');
  if (!mayResolve(change, actor)) return refuse('not-an-approver');
  if (answer.note.trim() === '') return refuse('note-required');

  const resolution = { by: actor.id, at: now, ...answer };
  // Counted from the request: an unknown outcome must not extend the time until the revert.
  const revertAt = answer.happened && change.outcome ? revertTime(change, change.outcome.at) : null;
  return move({ ...change, resolution, revertAt, state: answer.happened ? 'succeeded' : 'failed' });
}

// The requester alone must not answer "It did not happen": that would unlock the target for a
// second attempt without a check by another person.
function mayResolve(change: Change, actor: Actor): boolean {
  const role = change.requires.from ?? change.requires.to;
  if (!actor.roles.includes(role)) return false;
  return change.requires.from === null || change.requires.self || actor.id !== change.requester;
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
