import type { Change, State, UserId } from '../../changes/change.ts';
import type { Actor } from '../../changes/outcome.ts';
import type { Refusal } from '../../changes/refusal.ts';
import { changesToReview, changesWhere } from '../../storage/tables/changes/change-lists.ts';
import type { World } from '../ports.ts';
import { refusalOfVerb } from '../review/review.ts';

/** What lies before one person. No change is in two lists, but one that its requester may decide. */
export interface Desk {
  /** What this person may decide now; first what expires first. */
  readonly waiting: readonly Change[];
  /** Asked for by this person, and not begun. */
  readonly mine: readonly Change[];
  readonly running: readonly Change[];
  /** Over, with broken glass that nobody has looked at, and that this person may look at. */
  readonly toReview: readonly Change[];
  readonly lately: readonly Change[];
  /** More is pending than was looked at, so that what waits may be more as well. */
  readonly more: boolean;
  /** When this was read: what runs has moved on by the time somebody looks. */
  readonly at: Date;
}

export type Found =
  | { readonly ok: true; readonly actor: Actor; readonly desk: Desk }
  | { readonly ok: false; readonly refusal: Refusal };

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
export async function showHome(world: World, user: UserId): Promise<void> {
  const identity = await world.people.identify(user, { fresh: false });
  const found: Found = identity.ok
    ? { ok: true, actor: identity.actor, desk: await deskOf(world, identity.actor) }
    : { ok: false, refusal: identity.refusal };
  await world.messenger.showHome(user, found);
}

async function deskOf(world: World, actor: Actor): Promise<Desk> {
  const { db } = world.database;
  const [pending, mine, running, broken, over] = await Promise.all([
    changesWhere(db, { states: ['pending'], limit: MANY }),
    changesWhere(db, { states: ['pending', 'approved'], requester: actor.id, limit: MANY }),
    changesWhere(db, { states: ['approved', 'executing', 'unknown'], limit: MANY }),
    changesToReview(db, MANY),
    changesWhere(db, { states: OVER, limit: LOOKED_AT }),
  ]);
  // Whom the policy gives no role sees nothing of what others do.
  const sees = ({ requester }: Change) => actor.roles.length > 0 || requester === actor.id;
  // What takes another one back was asked for with it, and waits for nobody.
  const own = mine.filter(({ parent }) => parent === null);
  const now = world.now();
  return {
    waiting: pending
      .filter((change) => refusalOfVerb('approve', change, actor, now) === null)
      .toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime()),
    mine: own,
    running: running.filter((change) => sees(change) && !own.some(({ id }) => id === change.id)),
    toReview: broken.filter((change) => refusalOfVerb('review', change, actor, now) === null),
    lately: over.filter((change) => sees(change) && wasSent(change)).slice(0, LATELY),
    more: pending.length === MANY,
    at: now,
  };
}

/** What was previewed and then left has no card, and its end is no news. */
function wasSent({ card }: Change): boolean {
  return card !== null;
}
