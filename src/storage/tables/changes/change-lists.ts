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

/** Others of the same target that were asked for from an instant on. */
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
  /** Only those whose request was sent, and that ended, from this instant on. */
  readonly endedSince?: Date;
  /** Glass was broken, it is over, and nobody has looked at it since. */
  readonly toReview?: true;
  /** Without what others have not sent off, or never did. */
  readonly privateTo?: UserId;
  readonly limit: number;
  /** The last change of the page before. */
  readonly before?: Pick<Change, 'id' | 'createdAt'>;
}

/** The newest first. */
export function listChanges(db: Db, { limit, ...filter }: ChangeFilter): Promise<Change[]> {
  return select(db, { where: (eb) => fits(eb, filter), limit, order: 'desc' });
}

/** How many there are, all pages together. */
export async function countChanges(db: Db, filter: Omit<ChangeFilter, 'limit'>): Promise<number> {
  const query = db.selectFrom('change').select((eb) => eb.fn.countAll().as('count'));
  const row = await query.where((eb) => fits(eb, filter)).executeTakeFirstOrThrow();
  return Number(row.count);
}

function fits(eb: Builder, filter: Omit<ChangeFilter, 'limit'>) {
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

/** Only its requester has seen it: it is a draft, or ended as one. */
export function isUnconfirmed(eb: Builder) {
  const isOver = eb('state', 'in', ['cancelled', 'expired', 'stale']);
  return eb.or([eb('state', '=', 'draft'), eb.and([eb('card_channel', 'is', null), isOver])]);
}

function isUnreviewed(eb: Builder) {
  return eb.and([
    eb('broken_glass', 'is not', null),
    // What takes it back was let through by the same broken glass, which is looked at once.
    eb('parent', 'is', null),
    eb('review', 'is', null),
    eb('state', 'not in', OPEN),
  ]);
}

function isOlder(eb: Builder, { id, createdAt }: Pick<Change, 'id' | 'createdAt'>) {
  const at = toText(createdAt);
  return eb.or([eb('created_at', '<', at), eb.and([eb('created_at', '=', at), eb('id', '<', id)])]);
}

/** Over, with glass that was broken and that nobody has looked at since; the oldest first. */
export function changesToReview(db: Db, limit: number): Promise<Change[]> {
  return select(db, { where: isUnreviewed, limit });
}
