import type { Change, ChangeId, Position, Verdict } from '../../../changes/change.ts';
import { compileOnce } from '../../engine/compile-once.ts';
import { toText } from '../../engine/portable.ts';
import { onPostgres } from '../../engine/postgres.ts';
import type { ApprovalTable, ChangeTable, Db, Tx } from '../schema.ts';
import { type OnUnreadable, select, selectById } from './change-query.ts';
import { type ChangeRow, changeRow } from './change-row.ts';
import type { StoredChange, StoredRecord } from './stored-record.ts';

/** Another transaction was first. This one rolls back, and its caller reads the change again. */
export class OptimisticLockError extends Error {
  override readonly name = 'OptimisticLockError';
}

/** The columns that no version covers: they are updated without an audit event. */
const UNMARKED = {
  card_channel: null,
  card_ts: null,
  card_version: null,
  revert_planned_at: null,
} as const;

/** Returns what it stored. */
export async function insertChange(
  tx: Tx,
  change: Change,
  { source = 'slack' }: { source?: string } = {},
): Promise<StoredRecord> {
  const card = { card_channel: change.card?.channel ?? null, card_ts: change.card?.ts ?? null };
  const row = { ...changeRow(change), ...UNMARKED, ...card };
  await tx.insertInto('change').values(row).execute();
  return { row, verdicts: await insertVerdicts(tx, null, change, source) };
}

export async function loadChange(db: Db, id: ChangeId): Promise<Change | null> {
  return (await loadStored(db, id))?.change ?? null;
}

export function loadStored(db: Db, id: ChangeId): Promise<StoredChange | null> {
  return selectById(db, id);
}

/** Loads these changes by id, without those that do not exist or are unreadable. */
export async function loadChanges(
  db: Db,
  ids: readonly ChangeId[],
  onUnreadable: OnUnreadable,
): Promise<ReadonlyMap<ChangeId, Change>> {
  if (ids.length === 0) return new Map();
  const changes = await select(db, { where: (eb) => eb('id', 'in', ids), onUnreadable });
  return new Map(changes.map((change) => [change.id, change]));
}

/** Loads a change and locks its row until the transaction ends. */
export async function lockChange(tx: Tx, id: ChangeId): Promise<Change | null> {
  return (await lockStored(tx, id))?.change ?? null;
}

/** Loads a change with its record and locks its row until the transaction ends. */
export async function lockStored(tx: Tx, id: ChangeId): Promise<StoredChange | null> {
  // A transaction of SQLite has locked the whole database already. On PostgreSQL a statement of its own
  // waits for the lock, because one that has waited misses newer approvals.
  if (onPostgres(tx)) {
    await lockRow(tx, id);
  }
  return loadStored(tx, id);
}

const lockRow = compileOnce((tx: Tx, id: ChangeId) =>
  tx.selectFrom('change').select('id').where('id', '=', id).forUpdate(),
);

interface MoveOptions {
  readonly source?: string;
  /** The row as this transaction read it: the columns that have their new value are not written again. */
  readonly stored?: ChangeTable | undefined;
}

/**
 * Stores the move from `before` to `after` and its new verdicts. Returns the row with its new version,
 * and these verdicts. Throws `OptimisticLockError` if the stored change is not `before` any more. The
 * card is stored by `setCard`.
 */
export async function updateChange(
  tx: Tx,
  before: Change,
  after: Change,
  { source = 'slack', stored }: MoveOptions = {},
): Promise<StoredRecord> {
  assertNextVersion(before, after);
  const columns = changeRow(after);
  const { id } = columns;
  const moved = await tx
    .updateTable('change')
    .set(stored ? differences(stored, columns) : columns)
    .where('id', '=', id)
    .where('state', '=', before.state)
    .where('version', '=', before.version)
    .returning('id')
    .execute();
  if (moved.length === 0)
    throw new OptimisticLockError(`Change ${id} is not ${before.state} any more`);
  const row = { ...UNMARKED, ...stored, ...columns };
  return { row, verdicts: await insertVerdicts(tx, before, after, source) };
}

/** An update of a column takes long if an index has it, even if its value stays the same. */
function differences(stored: ChangeTable, columns: ChangeRow): Partial<ChangeRow> {
  const names = Object.keys(columns) as (keyof ChangeRow)[];
  const changed = names.filter((name) => stored[name] !== columns[name]);
  return Object.fromEntries(changed.map((name) => [name, columns[name]]));
}

function assertNextVersion(before: Change, after: Change): void {
  const same = before.id === after.id && before.digest === after.digest;
  if (same && after.version === before.version + 1) return;
  throw new Error(`Change ${before.id} must move by one version and keep its plan digest`);
}

async function insertVerdicts(
  tx: Tx,
  before: Change | null,
  after: Change,
  source: string,
): Promise<readonly ApprovalTable[]> {
  const verdicts: ApprovalTable[] = [];
  for (const approval of after.approvals.slice(before?.approvals.length ?? 0)) {
    const row = verdictRow(after, approval, 'approved', source);
    if (!(await insertVerdict(tx, row)))
      throw new OptimisticLockError(`${approval.by} already decided on change ${after.id}`);
    verdicts.push(row);
  }
  const { rejection } = after;
  // An earlier approval by the same user keeps its row; the change itself stores the rejection.
  if (rejection && !before?.rejection) {
    const row = verdictRow(after, rejection, 'rejected', source);
    if (await insertVerdict(tx, row)) verdicts.push(row);
  }
  return verdicts;
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

/** Stores the position of the card and the version that it shows; ignores an older version. */
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

/** Removes a change from the due reverts, because its revert is stored. */
export async function markRevertPlanned(tx: Tx, id: ChangeId, now: Date): Promise<void> {
  const mark = { revert_planned_at: toText(now) };
  await tx.updateTable('change').set(mark).where('id', '=', id).execute();
}

/** Returns false if the change has no mark. */
export async function removeRevertMark(tx: Tx, id: ChangeId): Promise<boolean> {
  const removed = await tx
    .updateTable('change')
    .set({ revert_planned_at: null })
    .where('id', '=', id)
    .where('revert_planned_at', 'is not', null)
    .returning('id')
    .execute();
  return removed.length > 0;
}

/** Returns the version that the card shows; null before the first card. */
export async function cardVersion(db: Db, id: ChangeId): Promise<number | null> {
  const [row] = await selectCardVersion(db, id);
  return row?.card_version ?? null;
}

const selectCardVersion = compileOnce((db: Db, id: ChangeId) =>
  db.selectFrom('change').select('card_version').where('id', '=', id),
);
