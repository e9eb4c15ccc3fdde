import type { Expression, ExpressionBuilder, Selectable, SqlBool } from 'kysely';
import {
  type Change,
  type ChangeId,
  type Position,
  type State,
  targetKey,
  type UserId,
  type Verdict,
} from '../changes/change.ts';
import { changeFrom, changeRow } from './change-row.ts';
import { toDate, toText } from './portable.ts';
import { onPostgres } from './postgres.ts';
import type { ApprovalTable, ChangeTable, Db, Tables, Tx } from './tables.ts';

/** Somebody was first: the transaction rolls back, and whoever began it looks again. */
export class LostRace extends Error {
  override readonly name = 'LostRace';
}

export async function insertChange(
  tx: Tx,
  change: Change,
  { source = 'slack' }: { source?: string } = {},
): Promise<void> {
  const card = { card_channel: change.card?.channel ?? null, card_ts: change.card?.ts ?? null };
  const row = { ...changeRow(change), ...card, card_version: null };
  await tx.insertInto('change').values(row).execute();
  await insertVerdicts(tx, null, change, source);
}

export async function loadChange(db: Db, id: ChangeId): Promise<Change | null> {
  const [change] = await select(db, { where: (eb) => eb('id', '=', id), limit: 1 });
  return change ?? null;
}

/** As `loadChange`, and nobody else may move the change until the transaction ends. */
export async function lockChange(tx: Tx, id: ChangeId): Promise<Change | null> {
  await tx
    .selectFrom('change')
    .select('id')
    .where('id', '=', id)
    .$if(onPostgres(tx), (query) => query.forUpdate())
    .execute();
  // Another statement, since the first may have waited and then saw the approvals of before.
  return loadChange(tx, id);
}

/**
 * Stores the move from `before` to `after` with the verdicts that are new in it, and throws
 * `LostRace` when the change is no longer as it was before. The card has its own function.
 */
export async function updateChange(
  tx: Tx,
  before: Change,
  after: Change,
  { source = 'slack' }: { source?: string } = {},
): Promise<void> {
  refuseOddMove(before, after);
  const { id, ...columns } = changeRow(after);
  const moved = await tx
    .updateTable('change')
    .set(columns)
    .where('id', '=', id)
    .where('state', '=', before.state)
    .where('version', '=', before.version)
    .returning('id')
    .execute();
  if (moved.length === 0) throw new LostRace(`Change ${id} has moved on from ${before.state}`);
  await insertVerdicts(tx, before, after, source);
}

function refuseOddMove(before: Change, after: Change): void {
  const same = before.id === after.id && before.digest === after.digest;
  if (same && after.version === before.version + 1) return;
  throw new Error(`Change ${before.id} may move on by one version, with the plan that was shown`);
}

async function insertVerdicts(
  tx: Tx,
  before: Change | null,
  after: Change,
  source: string,
): Promise<void> {
  for (const approval of after.approvals.slice(before?.approvals.length ?? 0)) {
    const isNew = await insertVerdict(tx, verdictRow(after, approval, 'approved', source));
    if (!isNew) throw new LostRace(`${approval.by} has decided on change ${after.id} already`);
  }
  const { rejection } = after;
  // Whoever approved before keeps that row; the rejection itself stands on the change.
  if (rejection && !before?.rejection) {
    await insertVerdict(tx, verdictRow(after, rejection, 'rejected', source));
  }
}

function verdictRow(
  { id, digest }: Change,
  { by, at }: Verdict,
  decision: ApprovalTable['decision'],
  source: string,
): ApprovalTable {
  return { change_id: id, person: by, decision, digest, at: toText(at), source };
}

async function insertVerdict(tx: Tx, row: ApprovalTable): Promise<boolean> {
  const inserted = await tx
    .insertInto('approval')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('person')
    .execute();
  return inserted.length > 0;
}

/** Remembers where the card stands and which version it shows; an older drawing changes nothing. */
export async function setCard(
  tx: Tx,
  id: ChangeId,
  position: Position,
  drawnVersion: number,
): Promise<void> {
  await tx
    .updateTable('change')
    .set({ card_channel: position.channel, card_ts: position.ts, card_version: drawnVersion })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('card_version', 'is', null), eb('card_version', '<=', drawnVersion)]))
    .execute();
}

/** The version that the card shows; null before it was drawn. */
export async function cardVersion(db: Db, id: ChangeId): Promise<number | null> {
  const query = db.selectFrom('change').select('card_version').where('id', '=', id);
  return (await query.executeTakeFirst())?.card_version ?? null;
}

const OPEN: readonly State[] = ['draft', 'pending', 'approved', 'executing', 'unknown'];
const EXPIRING: readonly State[] = ['draft', 'pending', 'approved'];

export function openChangesOf(db: Db, targetKey: string): Promise<Change[]> {
  return select(db, {
    where: (eb) => eb.and([eb('target_key', '=', targetKey), eb('state', 'in', OPEN)]),
  });
}

/** Others of the same target that were asked for from an instant on. */
export function askedSince(db: Db, { id, plan }: Change, since: Date): Promise<Change[]> {
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
export function changesWhere(db: Db, { limit, ...filter }: ChangeFilter): Promise<Change[]> {
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
    ...(privateTo ? [eb.or([eb('requester', '=', privateTo), eb.not(isUnsent(eb))])] : []),
    ...(before ? [isOlder(eb, before)] : []),
  ]);
}

/** Only its requester has seen it: it is a draft, or ended as one. */
export function isUnsent(eb: Builder) {
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

export function dueToExpire(db: Db, now: Date, limit: number): Promise<ChangeId[]> {
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
export function dueToClaim(db: Db, now: Date, { limit, except }: Pass): Promise<ChangeId[]> {
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
export function dueToTakeBack(db: Db, { limit, except }: Pass): Promise<Change[]> {
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

export function leaseRanOut(db: Db, now: Date, limit: number): Promise<ChangeId[]> {
  const where = (eb: Builder) =>
    eb.and([eb('state', '=', 'executing'), eb('lease_until', '<=', toText(now))]);
  return idsOf(db, where, limit);
}

/** Their ids alone: one that cannot be read must not stand before those behind it. */
async function idsOf(
  db: Db,
  where: (eb: Builder) => Expression<SqlBool>,
  limit: number,
): Promise<ChangeId[]> {
  const query = db.selectFrom('change').select('id').where(where);
  const rows = await query.orderBy('created_at').orderBy('id').limit(limit).execute();
  return rows.map(({ id }) => id);
}

type Builder = ExpressionBuilder<Tables, 'change'>;

interface Selection {
  readonly where: (eb: Builder) => Expression<SqlBool>;
  readonly limit?: number;
  readonly order?: 'asc' | 'desc';
}

// One statement for the changes and their approvals: two would see two moments.
async function select(db: Db, { where, limit, order = 'asc' }: Selection): Promise<Change[]> {
  const rows = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('change')
        .selectAll()
        .where(where)
        .orderBy('created_at', order)
        .orderBy('id', order)
        .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
        .as('c'),
    )
    .leftJoin('approval', (join) =>
      join.onRef('approval.change_id', '=', 'c.id').on('approval.decision', '=', 'approved'),
    )
    .leftJoin('change as child', 'child.parent', 'c.id')
    .selectAll('c')
    .select(['approval.person', 'approval.at as approved_at'])
    .select(['child.id as child_id', 'child.state as child_state'])
    .orderBy('c.created_at', order)
    .orderBy('c.id', order)
    .orderBy('approval.at')
    .execute();
  return Map.groupBy(rows, ({ id }) => id)
    .values()
    .map(fold)
    .toArray();
}

interface ApprovedRow extends Selectable<ChangeTable> {
  readonly person: UserId | null;
  readonly approved_at: string | null;
  readonly child_id: ChangeId | null;
  readonly child_state: State | null;
}

function fold(rows: ApprovedRow[]): Change {
  const [first] = rows;
  if (!first) throw new Error('A group of rows has at least one');
  const approvals = rows.flatMap(({ person, approved_at }) =>
    person && approved_at ? [{ by: person, at: toDate(approved_at) }] : [],
  );
  const { child_id: id, child_state: state } = first;
  return { ...changeFrom(first, approvals), ...(id && state && { child: { id, state } }) };
}
