import type { Change, State, UserId } from '../../changes/change.ts';
import type { Actor } from '../../changes/outcome.ts';
import { changesToReview, listChanges } from '../../storage/tables/changes/change-lists.ts';
import type { HomeContent, HomeLists } from '../messenger-port.ts';
import type { DecisionContext } from '../ports.ts';
import { refusalOfVerb } from '../review/review.ts';

const MANY = 200;
const RECENT = 8;
const SEARCHED = 50;
const ENDED: readonly State[] = [
  'succeeded',
  'failed',
  'rejected',
  'cancelled',
  'expired',
  'stale',
  'denied',
];

/** Draws a user's App Home tab from the stored changes. */
export async function showHome(context: DecisionContext, user: UserId): Promise<void> {
  const identity = await context.people.identify(user, { fresh: false });
  const content: HomeContent = identity.ok
    ? { ok: true, actor: identity.actor, lists: await listsFor(context, identity.actor) }
    : { ok: false, refusal: identity.refusal };
  await context.messenger.showHome(user, content);
}

async function listsFor(context: DecisionContext, actor: Actor): Promise<HomeLists> {
  const { db } = context.database;
  const [pending, mine, running, unreviewed, ended] = await Promise.all([
    listChanges(db, { states: ['pending'], limit: MANY }),
    listChanges(db, { states: ['pending', 'approved'], requester: actor.id, limit: MANY }),
    listChanges(db, { states: ['approved', 'executing', 'unknown'], limit: MANY }),
    changesToReview(db, MANY),
    listChanges(db, { states: ENDED, limit: SEARCHED }),
  ]);
  // A user without a role sees only their own changes.
  const isVisible = ({ requester }: Change) => actor.roles.length > 0 || requester === actor.id;
  // A revert was requested together with its change.
  const own = mine.filter(({ parent }) => parent === null);
  const now = context.now();
  return {
    waiting: pending
      .filter((change) => refusalOfVerb('approve', change, actor, now) === null)
      .toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime()),
    mine: own,
    running: running.filter(
      (change) => isVisible(change) && !own.some(({ id }) => id === change.id),
    ),
    toReview: unreviewed.filter((change) => refusalOfVerb('review', change, actor, now) === null),
    recent: ended.filter((change) => isVisible(change) && wasSent(change)).slice(0, RECENT),
    more: pending.length === MANY,
    at: now,
  };
}

/** Whether it was confirmed: only then a change has a card. */
function wasSent({ card }: Change): boolean {
  return card !== null;
}
