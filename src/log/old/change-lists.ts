import {
  type Change,
  type ChangeId,
  type State,
  targetKey,
  type UserId,
} from '../../domain/change.ts';
import { compileOnce } from '../../storage/old/compile-once.ts';
import { toText } from '../../storage/old/portable.ts';
import type { Db } from '../../storage/old/schema.ts';
import {
  type Builder,
  type ChangesRead,
  HAS_ENDED,
  IS_OPEN,
  type OnUnreadable,
  readingChanges,
  select,
  selection,
} from './change-query.ts';
import { endedAt } from './change-row.ts';

/** Open changes of a target. */
export function openChangesOfTarget(db: Db, targetKey: string): ChangesRead {
  return readingChanges(openOfTarget.with(db, targetKey));
}

const openOfTarget = compileOnce((db: Db, targetKey: string) =>
  selection(db, { where: (eb) => eb.and([eb('target_key', '=', targetKey), IS_OPEN]) }),
);

/** Other changes of the same target that were requested since a time. */
export function changesRequestedSince(db: Db, { id, plan }: Change, since: Date): ChangesRead {
  return readingChanges(requestedSince.with(db, targetKey(plan.target), toText(since), id));
}

const requestedSince = compileOnce((db: Db, targetKey: string, since: string, except: ChangeId) => {
  const where = (eb: Builder) =>
    eb.and([
      eb('target_key', '=', targetKey),
      eb('created_at', '>=', since),
      eb('id', '!=', except),
    ]);
  return selection(db, { where });
});

type Cursor = Pick<Change, 'id' | 'createdAt' | 'outcome' | 'resolution'>;

export interface ChangeFilter {
  readonly states?: readonly State[];
  readonly requester?: UserId;
  readonly commands?: readonly string[];
  /** Only changes of these targets, by their target keys. */
  readonly targets?: readonly string[];
  /** True: only open changes. False: only ended ones that had a card. */
  readonly open?: boolean;
  /** Only changes that were sent and ended since this time; the last to end comes first. */
  readonly endedSince?: Date;
  /** Only changes that were requested since this time. */
  readonly since?: Date;
  /** Without drafts, and without changes that ended as a draft. */
  readonly confirmed?: true;
  /** Only ended break-glass changes without a review. */
  readonly toReview?: true;
  /** Without drafts that other users have not confirmed, or never did. */
  readonly privateTo?: UserId;
  readonly limit: number;
  /** The last change of the previous page. */
  readonly before?: Cursor;
}

/**
 * Returns the matching changes, newest first. Throws if a row is unreadable, unless `onUnreadable`
 * is given: then the row is left out.
 */
export function listChanges(
  db: Db,
  { limit, ...filter }: ChangeFilter,
  onUnreadable?: OnUnreadable,
): Promise<Change[]> {
  const where = (eb: Builder) => matches(eb, filter);
  return select(db, { where, limit, order: 'desc', by: orderOf(filter), onUnreadable });
}

/** Returns the number of matching changes on all pages, at most `COUNTED_MAX` + 1. */
export async function countChanges(db: Db, filter: Omit<ChangeFilter, 'limit'>): Promise<number> {
  const row = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('change')
        .select('id')
        .where((inner) => matches(inner, filter))
        .orderBy('created_at', 'desc')
        .limit(COUNTED_MAX + 1)
        .as('counted'),
    )
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** More changes are not counted, because the time would grow with the number of all changes. */
export const COUNTED_MAX = 1_000;

function matches(eb: Builder, filter: Omit<ChangeFilter, 'limit'>) {
  const { states, open, requester, commands, targets, endedSince, since, before } = filter;
  const { privateTo } = filter;
  return eb.and([
    ...(open ? [IS_OPEN] : []),
    ...(open === false ? [HAS_ENDED, eb('card_channel', 'is not', null)] : []),
    ...(states ? [eb('state', 'in', states)] : []),
    ...(requester ? [eb('requester', '=', requester)] : []),
    ...(commands ? [eb('command', 'in', commands)] : []),
    ...(targets ? [eb('target_key', 'in', targets)] : []),
    ...(endedSince ? [eb('ended_at', '>=', toText(endedSince))] : []),
    ...(since ? [eb('created_at', '>=', toText(since))] : []),
    ...(filter.toReview ? [isUnreviewed(eb)] : []),
    ...(filter.confirmed ? [eb.not(isUnconfirmed(eb))] : []),
    ...(privateTo ? [eb.or([eb('requester', '=', privateTo), eb.not(isUnconfirmed(eb))])] : []),
    ...(before ? [isBefore(eb, orderOf(filter), before)] : []),
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
    HAS_ENDED,
  ]);
}

function orderOf({ endedSince }: Pick<ChangeFilter, 'endedSince'>) {
  return endedSince ? 'ended_at' : 'created_at';
}

function isBefore(eb: Builder, by: 'created_at' | 'ended_at', change: Cursor) {
  const at = toText((by === 'ended_at' ? endedAt(change) : null) ?? change.createdAt);
  return eb.or([eb(by, '<', at), eb.and([eb(by, '=', at), eb('id', '<', change.id)])]);
}

/** Returns ended break-glass changes without a review, oldest first. */
export function changesToReview(
  db: Db,
  limit: number,
  onUnreadable?: OnUnreadable,
): Promise<Change[]> {
  return select(db, { where: isUnreviewed, limit, onUnreadable });
}

/** The commands of the changes that a user requested, the most frequent first; reverts do not count. */
export async function requestedCommands(
  db: Db,
  requester: UserId,
  most: number,
): Promise<readonly string[]> {
  const query = db
    .selectFrom('change')
    .select('command')
    .where('requester', '=', requester)
    .where('parent', 'is', null)
    .groupBy('command')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .orderBy('command');
  return (await query.limit(most).execute()).map(({ command }) => command);
}
