import type { Change, ChangeId, ChannelId, Position, State } from '../../domain/change.ts';
import { compileEach, compileOnce } from '../../storage/old/compile-once.ts';
import { isInList, type ListParameter, listParameter } from '../../storage/old/lists.ts';
import { toText } from '../../storage/old/portable.ts';
import { onPostgres } from '../../storage/old/postgres.ts';
import type { ApprovalTable, ChangeTable, Db, Tx } from '../../storage/old/schema.ts';
import { shareReads } from '../../storage/old/share-reads.ts';
import { keepRows, runTogether, type Statement } from '../../storage/old/together.ts';
import { type OnUnreadable, rowsById, rowsByIds, select, storedFrom } from './change-query.ts';
import { type ChangeRow, changeRow } from './change-row.ts';
import type { StoredChange, StoredRecord, VerifiableChange } from './stored-record.ts';
import { newVerdicts, OptimisticLockError } from './verdicts.ts';
import { type VersionEvent, versionEvents, versionEventsOf } from './version-events.ts';

/** The columns that no version covers: they are updated without an audit event. */
const UNMARKED = {
  card_channel: null,
  card_ts: null,
  card_version: null,
  revert_planned_at: null,
} as const;

/** Returns what it stored. `also`: statements that are sent together with it. */
export async function insertChange(
  tx: Tx,
  change: Change,
  { source = 'slack', also = [] }: Pick<MoveOptions, 'source' | 'also'> = {},
): Promise<StoredRecord> {
  const card = { card_channel: change.card?.channel ?? null, card_ts: change.card?.ts ?? null };
  const row = { ...changeRow(change), ...UNMARKED, ...card };
  const insert = insertColumns(tx, Object.keys(row).join(), Object.values(row));
  return { row, verdicts: await store(tx, [insert], newVerdicts(tx, null, change, source), also) };
}

const insertColumns = compileEach((tx, names, values: readonly unknown[]) => {
  const columns = names.split(',').map((name, index) => [name, values[index]]);
  return tx.insertInto('change').values(Object.fromEntries(columns));
});

export async function loadChange(db: Db, id: ChangeId): Promise<Change | null> {
  return (await loadStored(db, id))?.change ?? null;
}

export async function loadStored(db: Db, id: ChangeId): Promise<StoredChange | null> {
  const rows = db.isTransaction ? await rowsById(db, id) : await readRows(db, id);
  return rows ? storedFrom(rows) : null;
}

const readRows = shareReads(async (db, ids: readonly ChangeId[]) =>
  Map.groupBy(await rowsByIds(db, listParameter(db, ids)), ({ id }) => id),
);

/** Loads a change with the audit events of its versions. */
export async function loadVerifiable(db: Db, id: ChangeId): Promise<VerifiableChange | null> {
  if (!db.isTransaction) return (await readVerifiable(db, id))?.() ?? null;
  const [rows, events] = await runTogether(db, [rowsById.with(db, id), versionEvents.with(db, id)]);
  return verifiableFrom(rows, events);
}

/** Each caller decodes its own change, so that an unreadable one rejects only its caller. */
const readVerifiable = shareReads(async (db, ids: readonly ChangeId[]) => {
  const list = listParameter(db, ids);
  const [rows, events] = await runTogether(db, [
    rowsByIds.with(db, list),
    versionEventsOf.with(db, list),
  ]);
  const eventsOf = Map.groupBy(events, ({ change_id }) => change_id);
  return new Map(
    [...Map.groupBy(rows, ({ id }) => id)].map(
      ([id, own]) => [id, () => verifiableFrom(own, eventsOf.get(id) ?? [])] as const,
    ),
  );
});

function verifiableFrom(
  rows: Parameters<typeof storedFrom>[0],
  events: readonly VersionEvent[],
): VerifiableChange | null {
  const stored = storedFrom(rows);
  return stored && { ...stored, events };
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

/**
 * Loads a change with its record and events, and locks its row until the transaction ends. `also`: reads
 * that are sent together with it, and run under the lock.
 */
export async function lockStored(
  tx: Tx,
  id: ChangeId,
  also: readonly Statement[] = [],
): Promise<VerifiableChange | null> {
  const change = keepRows(rowsById.with(tx, id));
  const events = keepRows(versionEvents.with(tx, id));
  // A statement of its own waits for the lock, because one that has waited misses newer approvals. A
  // transaction of SQLite has locked the whole database already.
  const lock = onPostgres(tx) ? [lockRow.with(tx, id)] : [];
  await runTogether(tx, [...lock, change, events, ...also]);
  return verifiableFrom(change.rows(), events.rows());
}

const lockRow = compileOnce((tx: Tx, id: ChangeId) =>
  tx.selectFrom('change').select('id').where('id', '=', id).forUpdate(),
);

interface MoveOptions {
  readonly source?: string;
  /** Statements of the same move, which run after it and are sent together with it. */
  readonly also?: readonly Statement[];
  /** The row as this transaction read it: the columns that have their new value are not written again. */
  readonly stored?: ChangeTable | undefined;
}

/**
 * Stores the move from `before` to `after` and its new verdicts. Returns the row with its new version,
 * and these verdicts. Throws `OptimisticLockError` if the stored change is not `before` any more. The
 * card is stored by `settingCard`.
 */
export async function updateChange(
  tx: Tx,
  before: Change,
  after: Change,
  { source = 'slack', stored, also = [] }: MoveOptions = {},
): Promise<StoredRecord> {
  assertNextVersion(before, after);
  const columns = changeRow(after);
  const update = updateOf(tx, before, stored ? differences(stored, columns) : columns);
  const verdicts = await store(tx, [update], newVerdicts(tx, before, after, source), also);
  return { row: { ...UNMARKED, ...stored, ...columns }, verdicts };
}

/** Returns the verdicts that were stored. */
async function store(
  tx: Tx,
  own: readonly Statement[],
  verdicts: ReturnType<typeof newVerdicts>,
  also: readonly Statement[],
): Promise<readonly ApprovalTable[]> {
  const inserts = verdicts.map(({ insert }) => insert);
  const results = await runTogether(tx, [...own, ...inserts, ...also]);
  return verdicts.flatMap(({ row }, index) =>
    (results[own.length + index] ?? []).length > 0 ? [row] : [],
  );
}

function updateOf(tx: Tx, { id, state, version }: Change, columns: Partial<ChangeRow>): Statement {
  const values = [id, state, version, ...Object.values(columns)] as const;
  const { query } = updateColumns(tx, Object.keys(columns).join(), values);
  const check = (moved: readonly unknown[]) => {
    if (moved.length === 0) throw new OptimisticLockError(`Change ${id} is not ${state} any more`);
  };
  return { query, check };
}

type MovedValues = readonly [ChangeId, State, number, ...unknown[]];

const updateColumns = compileEach((tx, names, [id, state, version, ...values]: MovedValues) => {
  const columns = names.split(',').map((name, index) => [name, values[index]]);
  return tx
    .updateTable('change')
    .set(Object.fromEntries(columns))
    .where('id', '=', id)
    .where('state', '=', state)
    .where('version', '=', version)
    .returning('id');
});

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

/** The statement that stores the position of the card and the version that it shows; ignores an older version. */
export function settingCard(
  tx: Tx,
  id: ChangeId,
  { channel, ts }: Position,
  drawnVersion: number,
): Statement {
  return updateCard.with(tx, id, channel, ts, drawnVersion);
}

const updateCard = compileOnce(
  (tx: Tx, id: ChangeId, channel: ChannelId, ts: string, version: number) =>
    tx
      .updateTable('change')
      .set({ card_channel: channel, card_ts: ts, card_version: version })
      .where('id', '=', id)
      .where((eb) => eb.or([eb('card_version', 'is', null), eb('card_version', '<=', version)])),
);

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

/** Returns the version that the card shows; null before the first card. For use outside transactions. */
export async function cardVersion(db: Db, id: ChangeId): Promise<number | null> {
  return (await readCardVersions(db, id)) ?? null;
}

const readCardVersions = shareReads(async (db, ids: readonly ChangeId[]) => {
  const rows = await selectCardVersions(db, listParameter(db, ids));
  return new Map(rows.map((row) => [row.id, row.card_version]));
});

const selectCardVersions = compileOnce((db: Db, ids: ListParameter) =>
  db
    .selectFrom('change')
    .select(['id', 'card_version'])
    .where((eb) => isInList(db, eb.ref('id'), ids)),
);
