import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Change, ChangeId, State } from '../../domain/change.ts';
import { compileOnce } from '../../storage/old/compile-once.ts';
import { isInList, type ListParameter } from '../../storage/old/lists.ts';
import { toDate, UnreadableRowError } from '../../storage/old/portable.ts';
import type { Db, Tables } from '../../storage/old/schema.ts';
import { readInTurn } from '../../storage/old/share-reads.ts';
import { keepRows, type Statement } from '../../storage/old/together.ts';
import { changeFrom, followUpFrom } from './change-row.ts';
import { recordFrom, type StoredChange, VERDICT_COLUMNS } from './stored-record.ts';

/** Selects ids only, so that one unreadable row does not block the others. */
export function selectIds(db: Db, where: (eb: Builder) => Expression<SqlBool>, limit: number) {
  const query = db.selectFrom('change').select('id').where(where);
  return query.orderBy('created_at').orderBy('id').limit(limit);
}

/** Runs a statement of `selectIds`. */
export async function readIds(db: Db, ids: Statement<{ id: ChangeId }>): Promise<ChangeId[]> {
  return (await readInTurn(db, ids)).map(({ id }) => id);
}

const OPEN: readonly State[] = ['draft', 'pending', 'approved', 'executing', 'unknown'];

// Written as in the partial index `change_open`: SQLite uses such an index for the same text only,
// without parameters.
export const IS_OPEN = sql<SqlBool>`state in (${sql.join(OPEN.map((state) => sql.lit(state)))})`;
export const HAS_ENDED = sql<SqlBool>`not (${IS_OPEN})`;

export type Builder = ExpressionBuilder<Tables, 'change'>;

interface Selection {
  readonly where: (eb: Builder) => Expression<SqlBool>;
  readonly limit?: number;
  readonly order?: 'asc' | 'desc';
  readonly by?: 'created_at' | 'ended_at';
  /** Called for each unreadable row; without it, such a row rejects. */
  readonly onUnreadable?: OnUnreadable | undefined;
}

export type OnUnreadable = (id: ChangeId, error: unknown) => void;

/** Selects a change with its record, for `storedFrom`. */
export const rowsById = compileOnce((db: Db, id: ChangeId) => joined(db).where('c.id', '=', id));

/** Like `rowsById`, of the changes in a list. */
export const rowsByIds = compileOnce((db: Db, ids: ListParameter) =>
  joined(db).where((eb) => isInList(db, eb.ref('c.id'), ids)),
);

// One statement reads changes and verdicts, so that both are of the same moment.
function joined(db: Db) {
  return db
    .selectFrom('change as c')
    .leftJoin('approval as verdict', 'verdict.change_id', 'c.id')
    .leftJoin('change as child', 'child.parent', 'c.id')
    .leftJoin('follow_up', 'follow_up.change_id', 'c.id')
    .selectAll('c')
    .select(VERDICT_COLUMNS)
    .select(['child.id as child_id', 'child.state as child_state'])
    .select('follow_up.shown');
}

export async function select(db: Db, selected: Selection): Promise<Change[]> {
  return changesFrom(await selection(db, selected).execute(), selected);
}

/** The statement of `select`, which `changesFrom` reads. */
export function selection(db: Db, { where, limit, order = 'asc', by = 'created_at' }: Selection) {
  return joined(db).where('c.id', 'in', (eb) =>
    eb
      .selectFrom('change')
      .select('id')
      .where(where)
      .$if(limit !== undefined, (query) =>
        query
          .orderBy(by, order)
          .orderBy('id', order)
          .limit(limit ?? 0),
      ),
  );
}

export interface ChangesRead extends Statement<JoinedRow> {
  /** What was read, the oldest first. Throws if a row is unreadable. */
  readonly changes: () => Change[];
}

/** A statement of `selection`, to be sent together with others. */
export function readingChanges(statement: Statement<JoinedRow>): ChangesRead {
  const read = keepRows(statement);
  return { ...read, changes: () => changesFrom(read.rows()) };
}

function changesFrom(
  rows: readonly JoinedRow[],
  { order = 'asc', by = 'created_at', onUnreadable }: Partial<Selection> = {},
): Change[] {
  // Sorted here: the database would copy whole plans to sort them.
  const groups = [...Map.groupBy(rows, ({ id }) => id).values()];
  const sign = order === 'asc' ? 1 : -1;
  return groups
    .toSorted(([one], [other]) => sign * compareBy(by, one, other))
    .flatMap((group) => readable(group, onUnreadable));
}

function compareBy(by: 'created_at' | 'ended_at', one?: JoinedRow, other?: JoinedRow): number {
  return compareTexts(one?.[by], other?.[by]) || compareTexts(one?.id, other?.id);
}

function compareTexts(one: string | null = null, other: string | null = null): number {
  if (one === other) return 0;
  return (one ?? '') < (other ?? '') ? -1 : 1;
}

function readable(rows: JoinedRow[], onUnreadable?: OnUnreadable): Change[] {
  try {
    const stored = storedFrom(rows);
    return stored ? [stored.change] : [];
  } catch (error) {
    const [first] = rows;
    if (!onUnreadable || !first || !(error instanceof UnreadableRowError)) throw error;
    onUnreadable(first.id, error);
    return [];
  }
}

type JoinedRow = Parameters<typeof recordFrom>[0] & {
  readonly child_id: ChangeId | null;
  readonly child_state: State | null;
  readonly shown: string | null;
};

/** Returns null if there are no rows. */
export function storedFrom(rows: readonly JoinedRow[]): StoredChange | null {
  const [joined] = rows;
  if (!joined) return null;
  const { child_id: id, child_state: state, shown, ...first } = joined;
  const record = recordFrom(first, rows);
  const approvals = record.verdicts
    .filter(({ decision }) => decision === 'approved')
    .map(({ person, at }) => ({ by: person, at: toDate(at) }))
    .toSorted((one, other) => one.at.getTime() - other.at.getTime());
  const followUp = followUpFrom(shown);
  const change = {
    ...changeFrom(record.row, approvals),
    ...(id && state && { child: { id, state } }),
    ...(followUp && { followUp }),
  };
  return { change, record };
}
