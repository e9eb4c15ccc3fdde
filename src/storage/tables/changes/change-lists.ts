import { type Change, type State, targetKey, type UserId } from '../../../changes/change.ts';
import { toText } from '../../engine/portable.ts';
import type { Db } from '../schema.ts';
import { type Builder, select } from './change-query.ts';

const OPEN: readonly State[] = ['draft', 'pending', 'approved', 'executing', 'unknown'];

export function openChangesOfTarget(db: Db, targetKey: string): Promise<Change[]> {
  return select(db, {
    where: (eb) => eb.and([eb('target_key', '=', targetKey), eb('state', 'in', OPEN)]),
  });
}

/** Other changes of the same target that were requested since a time. */
export function changesRequestedSince(
  db: Db,
  { id, plan }: Change,
  since: Date,
): Promise<Change[]> {
  return select(db, {
    where: (eb) =>
      eb.and([
        eb('target_key', '=', targetKey(plan.target)),
        eb('created_at', '>=', toText(since)),
        eb('id', '!=', id),
      ]),
  });
}

export interface ChangeFilter {
  readonly states?: readonly State[];
  readonly requester?: UserId;
  /** Only changes that were sent and ended since this time. */
  readonly endedSince?: Date;
  /** Only ended break-glass changes without a review. */
  readonly toReview?: true;
  /** Without drafts that other users have not confirmed, or never did. */
  readonly privateTo?: UserId;
  readonly limit: number;
  /** The last change of the previous page. */
  readonly before?: Pick<Change, 'id' | 'createdAt'>;
}

/** Returns the matching changes, newest first. */
export function listChanges(db: Db, { limit, ...filter }: ChangeFilter): Promise<Change[]> {
  return select(db, { where: (eb) => matches(eb, filter), limit, order: 'desc' });
}

/** Returns the number of matching changes on all pages. */
export async function countChanges(db: Db, filter: Omit<ChangeFilter, 'limit'>): Promise<number> {
  const query = db.selectFrom('change').select((eb) => eb.fn.countAll().as('count'));
  const row = await query.where((eb) => matches(eb, filter)).executeTakeFirstOrThrow();
  return Number(row.count);
}

function matches(eb: Builder, filter: Omit<ChangeFilter, 'limit'>) {
  const { states, requester, endedSince, toReview, privateTo, before } = filter;
  return eb.and([
    ...(states ? [eb('state', 'in', states)] : []),
    ...(requester ? [eb('requester', '=', requester)] : []),
    ...(endedSince ? [eb('ended_at', '>=', toText(endedSince))] : []),
    ...(toReview ? [isUnreviewed(eb)] : []),
    ...(privateTo ? [eb.or([eb('requester', '=', privateTo), eb.not(isUnconfirmed(eb))])] : []),
    ...(before ? [isOlder(eb, before)] : []),
  ]);
}

/** A change that only its requester has seen: a draft, or one that ended as a draft. */
export function isUnconfirmed(eb: Builder) {
  const hasEnded = eb('state', 'in', ['cancelled', 'expired', 'stale']);
  return eb.or([eb('state', '=', 'draft'), eb.and([eb('card_channel', 'is', null), hasEnded])]);
}

function isUnreviewed(eb: Builder) {
  return eb.and([
    eb('broken_glass', 'is not', null),
    // A revert runs under the break-glass of its parent, which is reviewed once.
    eb('parent', 'is', null),
    eb('review', 'is', null),
    eb('state', 'not in', OPEN),
  ]);
}

function isOlder(eb: Builder, { id, createdAt }: Pick<Change, 'id' | 'createdAt'>) {
  const at = toText(createdAt);
  return eb.or([eb('created_at', '<', at), eb.and([eb('created_at', '=', at), eb('id', '<', id)])]);
}

/** Returns ended break-glass changes without a review, oldest first. */
export function changesToReview(db: Db, limit: number): Promise<Change[]> {
  return select(db, { where: isUnreviewed, limit });
}
