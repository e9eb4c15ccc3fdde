import type { Nullable } from 'kysely';
import { compileOnce } from '../../storage/old/compile-once.ts';
import { toText } from '../../storage/old/portable.ts';
import type { AuditEventTable, Db, FreezeTable } from '../../storage/old/schema.ts';
import { keepRows, type Statement } from '../../storage/old/together.ts';
import { readFreezeEvents, selectFreezeEvents } from './freeze-events.ts';
import { freezeFrom, type StoredFreeze, selectActiveFreezes } from './freezes.ts';
import type { AuditKey } from './key-ring.ts';

type Joined = Nullable<AuditEventTable> & Nullable<FreezeTable>;

const eventsAndRows = compileOnce((db: Db, now: string) =>
  db
    // Materialized, so that SQLite uses its index for the events of freezes.
    .with(
      (cte) => cte('event').materialized(),
      () => selectFreezeEvents(db),
    )
    .selectFrom('event')
    .fullJoin(selectActiveFreezes(db, now).as('active'), (join) =>
      join.onRef('active.id', '=', 'event.change_id'),
    )
    .selectAll()
    .orderBy('event.seq'),
);

/** The columns of an event are null together, and so are those of a freeze. */
function hasEvent(row: Joined): row is Joined & AuditEventTable {
  return row.seq !== null;
}

function hasFreeze(row: Joined): row is Joined & FreezeTable {
  return row.id !== null;
}

/**
 * Returns the freezes that were not lifted and have not ended, the first end first. The audit trail
 * decides, so that a freeze whose row was deleted or changed still counts. The row decides on a
 * freeze of an earlier release, which recorded no such event.
 */
export async function effectiveFreezes(
  db: Db,
  key: AuditKey,
  now: Date,
): Promise<readonly StoredFreeze[]> {
  const { query } = eventsAndRows.with(db, toText(now));
  return freezesFrom(db, key, now, (await db.executeQuery(query)).rows);
}

interface FreezesRead extends Statement<Joined> {
  /** What `effectiveFreezes` returns. */
  readonly freezes: () => Promise<readonly StoredFreeze[]>;
}

/** The statement of `effectiveFreezes`, to be sent together with others. */
export function readingFreezes(db: Db, key: AuditKey, now: Date): FreezesRead {
  const read = keepRows(eventsAndRows.with(db, toText(now)));
  return { ...read, freezes: () => freezesFrom(db, key, now, read.rows()) };
}

async function freezesFrom(
  db: Db,
  key: AuditKey,
  now: Date,
  joined: readonly Joined[],
): Promise<readonly StoredFreeze[]> {
  const recorded = await readFreezeEvents(db, key, joined.filter(hasEvent));
  const rows = [
    ...new Map(joined.filter(hasFreeze).map((row) => [row.id, freezeFrom(row)])).values(),
  ];
  const active = [...recorded.values()].filter(
    ({ freeze, lifted }) => !lifted && freeze.until > now,
  );
  const all = [
    ...active.map(({ freeze }) => freeze),
    ...rows.filter(({ id }) => !recorded.has(id)),
  ];
  return all.toSorted((a, b) => a.until.getTime() - b.until.getTime() || (a.id < b.id ? -1 : 1));
}
