import type { Change, State, UserId } from '../../changes/change.ts';
import type { Actor } from '../../changes/outcome.ts';
import { changesToReview, listChanges } from '../../storage/tables/changes/change-lists.ts';
import type { HomeContent, HomeLists } from '../messenger-port.ts';
import type { DecisionContext } from '../ports.ts';
import { refusalOfVerb } from '../review/review.ts';

const MANY = 200;
const LATELY = 8;
const LOOKED_AT = 50;
const OVER: readonly State[] = [
  'succeeded',
  'failed',
  'rejected',
  'cancelled',
  'expired',
  'stale',
  'denied',
];

/** Draws a person's home tab from what is stored now. */
export async function showHome(context: DecisionContext, user: UserId): Promise<void> {
  const identity = await context.people.identify(user, { fresh: false });
  const found: HomeContent = identity.ok
    ? { ok: true, actor: identity.actor, desk: await deskOf(context, identity.actor) }
    : { ok: false, refusal: identity.refusal };
  await context.messenger.showHome(user, found);
}

async function deskOf(context: DecisionContext, actor: Actor): Promise<HomeLists> {
  const { db } = context.database;
  const [pending, mine, running, broken, over] = await Promise.all([
    listChanges(db, { states: ['pending'], limit: MANY }),
    listChanges(db, { states: ['pending', 'approved'], requester: actor.id, limit: MANY }),
    listChanges(db, { states: ['approved', 'executing', 'unknown'], limit: MANY }),
    changesToReview(db, MANY),
    listChanges(db, { states: OVER, limit: LOOKED_AT }),
  ]);
  // Whom the policy gives no role sees nothing of what others do.
  const sees = ({ requester }: Change) => actor.roles.length > 0 || requester === actor.id;
  // What takes another one back was asked for with it, and waits for nobody.
  const own = mine.filter(({ parent }) => parent === null);
  const now = context.now();
  return {
    waiting: pending
      .filter((change) => refusalOfVerb('approve', change, actor, now) === null)
      .toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime()),
    mine: own,
    running: running.filter((change) => sees(change) && !own.some(({ id }) => id === change.id)),
    toReview: broken.filter((change) => refusalOfVerb('review', change, actor, now) === null),
    recent: over.filter((change) => sees(change) && wasSent(change)).slice(0, LATELY),
    more: pending.length === MANY,
    at: now,
  };
}

/** What was previewed and then left has no card, and its end is no news. */
function wasSent({ card }: Change): boolean {
  return card !== null;
}
