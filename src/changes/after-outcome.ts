import { type Change, isEnded } from './change.ts';
import { finish, revertTime } from './lifecycle.ts';
import { type Actor, move, refuse, type Transition } from './outcome.ts';

/** What takes it back cannot be planned any more: whoever asked for it is told, and decides. */
export function abandonRevert(change: Change): Transition {
  if (change.state !== 'succeeded' || change.revertAt === null) return refuse('already-decided');

  return move({ ...change, revertAt: null });
}

/** The database is older than what was done: nothing that is open in it may go on. */
export function invalidateAfterRestore(change: Change): Transition {
  if (isEnded(change)) return refuse('already-decided');

  return move({ ...change, lease: null, stopReason: 'restored', state: 'stale' });
}

/** The sender died or hangs: nobody can say what became of its request. */
export function markUnknown(change: Change, now: Date): Transition {
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
): Transition {
  if (change.state !== 'unknown') return refuse('not-unknown');
  if (!mayResolve(change, actor)) return refuse('not-an-approver');
  if (answer.note.trim() === '') return refuse('note-required');

  const resolution = { by: actor.id, at: now, ...answer };
  // From when it was sent: nobody meant it to hold longer for the time of the doubt.
  const revertAt = answer.happened && change.outcome ? revertTime(change, change.outcome.at) : null;
  return move({ ...change, resolution, revertAt, state: answer.happened ? 'succeeded' : 'failed' });
}

// The requester alone may not declare "it did not happen": that would unlock the target for a
// second try without anybody else having looked.
function mayResolve(change: Change, actor: Actor): boolean {
  const role = change.requires.from ?? change.requires.to;
  if (!actor.roles.includes(role)) return false;
  return change.requires.from === null || change.requires.self || actor.id !== change.requester;
}

/** Somebody else looks at a broken glass afterwards and writes down what they found. */
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
