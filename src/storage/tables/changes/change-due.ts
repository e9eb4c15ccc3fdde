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

/** How many at most, and without those that are to wait: they would stand before the others. */
export interface Pass {
  readonly limit: number;
  readonly except?: readonly ChangeId[];
}

function isNone(eb: Builder, ids: readonly ChangeId[] = []) {
  return ids.length > 0 ? [eb('id', 'not in', ids)] : [];
}

/** Approved, in time, and with a target that no change holds: the others would only wait again. */
export function dueClaims(db: Db, now: Date, { limit, except }: Pass): Promise<ChangeId[]> {
  const at = toText(now);
  const where = (eb: Builder) =>
    eb.and([
      eb('state', '=', 'approved'),
      eb('expires_at', '>', at),
      eb.or([eb('not_before', 'is', null), eb('not_before', '<=', at)]),
      eb('target_key', 'not in', eb.selectFrom('target_lock').select('target')),
      ...isNone(eb, except),
    ]);
  return idsOf(db, where, limit);
}

/** Succeeded for a while only, and nothing is planned yet that takes them back. */
export function dueReverts(db: Db, { limit, except }: Pass): Promise<Change[]> {
  const where = (eb: Builder) =>
    eb.and([
      eb('state', '=', 'succeeded'),
      eb('back_at', 'is not', null),
      eb.not(eb.exists(childIn(eb))),
      ...isNone(eb, except),
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
