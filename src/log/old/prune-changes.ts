import type { ChangeId } from '../../domain/change.ts';
import { toText } from '../../storage/old/portable.ts';
import type { Db, Tx } from '../../storage/old/schema.ts';
import type { ArchiveCheckpoint } from './checkpoints.ts';

const PAGE = 200;

interface Cursor {
  readonly endedAt: string;
  readonly id: ChangeId;
}

/** Changes to delete, and where the next page begins. */
interface EndedPage {
  readonly ids: readonly ChangeId[];
  readonly cursor: Cursor;
}

/**
 * Returns the next ended changes of which all events are archived. A change and its revert are deleted
 * only when this holds for both. Null at the end.
 */
export async function nextEnded(
  db: Db,
  { last, before }: ArchiveCheckpoint,
  after: Cursor | null,
): Promise<EndedPage | null> {
  const rows = await db
    .selectFrom('change')
    .select(['id', 'parent', 'ended_at'])
    .where('ended_at', '<', toText(before))
    .where('ended_at', '>=', after?.endedAt ?? '')
    .where((eb) =>
      after === null
        ? eb.val(true)
        : eb.or([eb('ended_at', '>', after.endedAt), eb('id', '>', after.id)]),
    )
    .orderBy('ended_at')
    .orderBy('id')
    .limit(PAGE)
    .execute();
  const end = rows.at(-1);
  if (!end?.ended_at) return null;
  const relatives = await relativesOf(db, rows);
  const ids = [...rows, ...relatives].map(({ id }) => id);
  const needed = await withLaterEvents(db, ids, last);
  const open = relatives.filter(({ ended_at }) => ended_at === null || ended_at >= toText(before));
  for (const { id } of open) needed.add(id);
  const isNeeded = ({ id, parent }: Row) =>
    needed.has(id) ||
    (parent !== null && needed.has(parent)) ||
    relatives.some((one) => one.parent === id && needed.has(one.id));
  const free = rows.filter((row) => !isNeeded(row)).map(({ id }) => id);
  return { ids: free, cursor: { endedAt: end.ended_at, id: end.id } };
}

interface Row {
  readonly id: ChangeId;
  readonly parent: ChangeId | null;
  readonly ended_at: string | null;
}

/** The changes that these revert, and the reverts of these. */
async function relativesOf(db: Db, rows: readonly Row[]): Promise<readonly Row[]> {
  const changes = db.selectFrom('change').select(['id', 'parent', 'ended_at']);
  const ids = rows.map(({ id }) => id);
  const parents = rows.flatMap(({ parent }) => (parent === null ? [] : [parent]));
  const reverts = await changes.where('parent', 'in', ids).execute();
  if (parents.length === 0) return reverts;
  return [...reverts, ...(await changes.where('id', 'in', parents).execute())];
}

async function withLaterEvents(
  db: Db,
  ids: readonly ChangeId[],
  last: number,
): Promise<Set<ChangeId>> {
  const rows = await db
    .selectFrom('audit_event')
    .select('change_id')
    .distinct()
    .where('change_id', 'in', ids)
    .where('seq', '>', last)
    .execute();
  return new Set(rows.flatMap(({ change_id: id }) => (id === null ? [] : [id])));
}

// Each of these tables references the change, except the queues. Release 1.1 wrote `effect_notice`.
const TABLES = [
  'approval',
  'send_permit',
  'target_lock',
  'sealed_secret',
  'effect_notice',
  'follow_up',
  'outbox',
] as const;

/** Deletes changes with everything that belongs to them. */
export async function deleteChanges(tx: Tx, ids: readonly ChangeId[]): Promise<void> {
  for (const table of TABLES) await tx.deleteFrom(table).where('change_id', 'in', ids).execute();
  await tx.deleteFrom('schedule_run').where('schedule_id', 'in', ids).execute();
  await tx.deleteFrom('schedule_run').where('change_id', 'in', ids).execute();
  await tx.deleteFrom('service_schedule').where('id', 'in', ids).execute();
  await tx.deleteFrom('change_freeze').where('id', 'in', ids).execute();
  await tx.deleteFrom('change').where('id', 'in', ids).execute();
}
