import { type Change, isEnded } from './change.ts';
import { backAfter, finish } from './lifecycle.ts';
import { type Actor, move, type Outcome, refuse } from './outcome.ts';

/** What takes it back cannot be planned any more: whoever asked for it is told, and decides. */
export function keep(change: Change): Outcome {
  if (change.state !== 'succeeded' || change.backAt === null) return refuse('already-decided');

  return move({ ...change, backAt: null });
}

/** The database is older than what was done: nothing that is open in it may go on. */
export function distrust(change: Change): Outcome {
  if (isEnded(change)) return refuse('already-decided');

  return move({ ...change, lease: null, stopped: 'restored', state: 'stale' });
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
  // From when it was sent: nobody meant it to hold longer for the time of the doubt.
  const backAt = answer.happened && change.ending ? backAfter(change, change.ending.at) : null;
  return move({ ...change, resolution, backAt, state: answer.happened ? 'succeeded' : 'failed' });
}

// The requester alone may not declare "it did not happen": that would unlock the target for a
// second try without anybody else having looked.
function mayResolve(change: Change, actor: Actor): boolean {
  const role = change.requires.from ?? change.requires.to;
  if (!actor.roles.includes(role)) return false;
  return change.requires.from === null || change.requires.self || actor.id !== change.requester;
}

/** Somebody else looks at a broken glass afterwards and writes down what they found. */
export function review(change: Change, actor: Actor, note: string, now: Date): Outcome {
  if (change.brokenGlass === null) return refuse('no-break-glass');
  if (!isEnded(change)) return refuse('not-over');
  if (change.review !== null) return refuse('already-reviewed');
  if (actor.id === change.brokenGlass.by) return refuse('self-approval');
  const { from, breakGlass: role } = change.requires;
  if (![from, role].some((each) => each !== null && actor.roles.includes(each))) {
    return refuse('not-an-approver');
  }
  if (note.trim() === '') return refuse('note-required');

  return move({ ...change, review: { by: actor.id, at: now, note } });
}
