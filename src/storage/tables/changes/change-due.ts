import type { ChangeId, State } from '../../../changes/change.ts';
import { DIGEST_PREFIX } from '../../../changes/plan-digest.ts';
import { toText } from '../../engine/portable.ts';
import type { Db } from '../schema.ts';
import { type Builder, IS_OPEN, idsOf } from './change-query.ts';

const UNSENT: readonly State[] = ['draft', 'pending', 'approved'];

export function dueExpiries(db: Db, now: Date, limit: number): Promise<ChangeId[]> {
  const where = (eb: Builder) =>
    eb.and([IS_OPEN, eb('state', 'in', UNSENT), eb('expires_at', '<=', toText(now))]);
  return idsOf(db, where, limit);
}

/** Changes that were not sent, with a plan digest of release 1.0, which covered less. */
export function outdatedChanges(db: Db, limit: number): Promise<ChangeId[]> {
  const where = (eb: Builder) =>
    eb.and([eb('state', 'in', UNSENT), eb('digest', 'not like', `${DIGEST_PREFIX}%`)]);
  return idsOf(db, where, limit);
}

/** `except` holds changes that back off after an error, so that they do not block others. */
interface DueQuery {
  readonly limit: number;
  readonly except?: readonly ChangeId[];
}

function isExcluded(eb: Builder, ids: readonly ChangeId[] = []) {
  return ids.length > 0 ? [eb('id', 'not in', ids)] : [];
}

/** Approved changes that may run now and whose target is not locked. */
export function dueClaims(db: Db, now: Date, { limit, except }: DueQuery): Promise<ChangeId[]> {
  const at = toText(now);
  const where = (eb: Builder) =>
    eb.and([
      IS_OPEN,
      eb('state', '=', 'approved'),
      eb('expires_at', '>', at),
      eb.or([eb('not_before', 'is', null), eb('not_before', '<=', at)]),
      eb('target_key', 'not in', eb.selectFrom('target_lock').select('target')),
      ...isExcluded(eb, except),
    ]);
  return idsOf(db, where, limit);
}

/** Succeeded changes with a revert time that are not marked: their revert is not planned yet. */
export function dueReverts(db: Db, { limit, except }: DueQuery): Promise<ChangeId[]> {
  const where = (eb: Builder) =>
    eb.and([
      eb('state', '=', 'succeeded'),
      // The range makes SQLite choose the index `change_revert_due`, which has few rows.
      eb('back_at', '>', ''),
      eb('revert_planned_at', 'is', null),
      ...isExcluded(eb, except),
    ]);
  return idsOf(db, where, limit);
}

/** Succeeded changes with a later revert time that are marked: their revert is planned. */
export async function markedReverts(db: Db, after: Date): Promise<ChangeId[]> {
  const rows = await db
    .selectFrom('change')
    .select(['id', 'state'])
    .where('back_at', '>', toText(after))
    .where('revert_planned_at', 'is not', null)
    .execute();
  // Compared here, so that SQLite reads the index by time and not the one by state.
  return rows.flatMap(({ id, state }) => (state === 'succeeded' ? [id] : []));
}

/** All open changes, oldest first. */
export function openChangeIds(db: Db, { limit, except }: DueQuery): Promise<ChangeId[]> {
  return idsOf(db, (eb) => eb.and([IS_OPEN, ...isExcluded(eb, except)]), limit);
}

/** Changes that a process is executing, or was when it crashed. */
export function executingChangeIds(db: Db, { limit, except }: DueQuery): Promise<ChangeId[]> {
  const where = (eb: Builder) =>
    eb.and([IS_OPEN, eb('state', '=', 'executing'), ...isExcluded(eb, except)]);
  return idsOf(db, where, limit);
}

export function expiredLeases(db: Db, now: Date, limit: number): Promise<ChangeId[]> {
  const where = (eb: Builder) =>
    eb.and([IS_OPEN, eb('state', '=', 'executing'), eb('lease_until', '<=', toText(now))]);
  return idsOf(db, where, limit);
}
