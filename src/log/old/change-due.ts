import type { ChangeId, State } from '../../domain/change.ts';
import { DIGEST_PREFIX } from '../../domain/draft.ts';
import { compileOnce } from '../../storage/old/compile-once.ts';
import { isInList, type ListParameter, listParameter } from '../../storage/old/lists.ts';
import { toText } from '../../storage/old/portable.ts';
import type { Db } from '../../storage/old/schema.ts';
import { type Builder, IS_OPEN, readIds, selectIds } from './change-query.ts';

const UNSENT: readonly State[] = ['draft', 'pending', 'approved'];

const expiries = compileOnce((db: Db, at: string, limit: number) => {
  const where = (eb: Builder) =>
    eb.and([IS_OPEN, eb('state', 'in', UNSENT), eb('expires_at', '<=', at)]);
  return selectIds(db, where, limit);
});

export function dueExpiries(db: Db, now: Date, limit: number): Promise<ChangeId[]> {
  return readIds(db, expiries.with(db, toText(now), limit));
}

const outdated = compileOnce((db: Db, limit: number) => {
  const where = (eb: Builder) =>
    eb.and([eb('state', 'in', UNSENT), eb('digest', 'not like', `${DIGEST_PREFIX}%`)]);
  return selectIds(db, where, limit);
});

/** Changes that were not sent, with a plan digest of release 1.0, which covered less. */
export function outdatedChanges(db: Db, limit: number): Promise<ChangeId[]> {
  return readIds(db, outdated.with(db, limit));
}

/** `except` holds changes that back off after an error, so that they do not block others. */
interface DueQuery {
  readonly limit: number;
  readonly except?: readonly ChangeId[];
}

function isOther(db: Db, eb: Builder, except: ListParameter) {
  return eb.not(isInList(db, eb.ref('id'), except));
}

const claims = compileOnce((db: Db, at: string, except: ListParameter, limit: number) => {
  const where = (eb: Builder) =>
    eb.and([
      IS_OPEN,
      eb('state', '=', 'approved'),
      eb('expires_at', '>', at),
      eb.or([eb('not_before', 'is', null), eb('not_before', '<=', at)]),
      eb('target_key', 'not in', eb.selectFrom('target_lock').select('target')),
      isOther(db, eb, except),
    ]);
  return selectIds(db, where, limit);
});

/** Approved changes that may run now and whose target is not locked. */
export function dueClaims(
  db: Db,
  now: Date,
  { limit, except = [] }: DueQuery,
): Promise<ChangeId[]> {
  return readIds(db, claims.with(db, toText(now), listParameter(db, except), limit));
}

const reverts = compileOnce((db: Db, except: ListParameter, limit: number) => {
  const where = (eb: Builder) =>
    eb.and([
      eb('state', '=', 'succeeded'),
      // The range makes SQLite choose the index `change_revert_due`, which has few rows.
      eb('back_at', '>', ''),
      eb('revert_planned_at', 'is', null),
      isOther(db, eb, except),
    ]);
  return selectIds(db, where, limit);
});

/** Succeeded changes with a revert time that are not marked: their revert is not planned yet. */
export function dueReverts(db: Db, { limit, except = [] }: DueQuery): Promise<ChangeId[]> {
  return readIds(db, reverts.with(db, listParameter(db, except), limit));
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

const open = compileOnce((db: Db, except: ListParameter, limit: number) =>
  selectIds(db, (eb) => eb.and([IS_OPEN, isOther(db, eb, except)]), limit),
);

/** All open changes, oldest first. */
export function openChangeIds(db: Db, { limit, except = [] }: DueQuery): Promise<ChangeId[]> {
  return readIds(db, open.with(db, listParameter(db, except), limit));
}

const executing = compileOnce((db: Db, except: ListParameter, limit: number) => {
  const where = (eb: Builder) =>
    eb.and([IS_OPEN, eb('state', '=', 'executing'), isOther(db, eb, except)]);
  return selectIds(db, where, limit);
});

/** Changes that a process is executing, or was when it crashed. */
export function executingChangeIds(db: Db, { limit, except = [] }: DueQuery): Promise<ChangeId[]> {
  return readIds(db, executing.with(db, listParameter(db, except), limit));
}

const leases = compileOnce((db: Db, at: string, limit: number) => {
  const where = (eb: Builder) =>
    eb.and([IS_OPEN, eb('state', '=', 'executing'), eb('lease_until', '<=', at)]);
  return selectIds(db, where, limit);
});

export function expiredLeases(db: Db, now: Date, limit: number): Promise<ChangeId[]> {
  return readIds(db, leases.with(db, toText(now), limit));
}
