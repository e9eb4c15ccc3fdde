import type { Change, ChangeId, State } from '../../../changes/change.ts';
import { toText } from '../../engine/portable.ts';
import type { Db } from '../schema.ts';
import { type Builder, idsOf, select } from './change-query.ts';

const EXPIRING: readonly State[] = ['draft', 'pending', 'approved'];

export function dueExpiries(db: Db, now: Date, limit: number): Promise<ChangeId[]> {
  const where = (eb: Builder) =>
    eb.and([eb('state', 'in', EXPIRING), eb('expires_at', '<=', toText(now))]);
  return idsOf(db, where, limit);
}

/** `except` holds changes that back off after an error, so that they do not block others. */
export interface DueQuery {
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
      eb('state', '=', 'approved'),
      eb('expires_at', '>', at),
      eb.or([eb('not_before', 'is', null), eb('not_before', '<=', at)]),
      eb('target_key', 'not in', eb.selectFrom('target_lock').select('target')),
      ...isExcluded(eb, except),
    ]);
  return idsOf(db, where, limit);
}

/** Succeeded changes with a revert time but without a planned revert. */
export function dueReverts(db: Db, { limit, except }: DueQuery): Promise<Change[]> {
  const where = (eb: Builder) =>
    eb.and([
      eb('state', '=', 'succeeded'),
      eb('back_at', 'is not', null),
      eb.not(eb.exists(childIn(eb))),
      ...isExcluded(eb, except),
    ]);
  return select(db, { where, limit });
}

function childIn(eb: Builder) {
  return eb
    .selectFrom('change as child')
    .select('child.id')
    .whereRef('child.parent', '=', 'change.id');
}

export function expiredLeases(db: Db, now: Date, limit: number): Promise<ChangeId[]> {
  const where = (eb: Builder) =>
    eb.and([eb('state', '=', 'executing'), eb('lease_until', '<=', toText(now))]);
  return idsOf(db, where, limit);
}
