import { type SqlBool, sql } from 'kysely';
import type { ChangeId } from '../../domain/change.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import { isAuthentic, readEventBody } from './chain.ts';
import { type AuditKey, currentKey } from './key-ring.ts';
import { SCHEDULE_EVENTS } from './schedule-events.ts';

/** Of this many changes the last event is remembered. */
const MOST_CHANGES = 100_000;

/** What the database lacks or adds, compared with the verified events. */
interface TrailComparison {
  /** Verified events are missing. */
  readonly isMissing: boolean;
  /** The chain must be verified from this event on before its event counts; null: from none. */
  readonly verifyFrom: number | null;
}

/**
 * What a process remembers of the events that it verified. An attacker with write access to the
 * database can delete events and put an old row back, but cannot change this memory.
 */
export interface VerifiedEvents {
  readonly add: (row: AuditEventTable) => void;
  readonly compareChange: (db: Db, id: ChangeId) => Promise<TrailComparison>;
  readonly compareFreezes: (db: Db) => Promise<TrailComparison>;
  /** Whether the revert of this change was planned. */
  readonly isRevertPlanned: (id: ChangeId) => boolean;
}

/**
 * An event of the current key needs no verification of the chain around it. One of an earlier key,
 * which may have leaked, counts only within a verified chain.
 */
export function createVerifiedEvents(keys: AuditKey): VerifiedEvents {
  const hashes = new Map<number, string>();
  const lastOf = new Map<ChangeId, AuditEventTable>();
  const schedules = new Map<ChangeId, Map<number, string>>();
  const reverted = new Set<ChangeId>();
  const current = currentKey(keys);
  const isCurrent = (row: AuditEventTable) => isAuthentic(row, current);

  function add(row: AuditEventTable): void {
    const { change_id: id, version, seq } = row;
    if (FREEZES.includes(row.kind)) hashes.set(seq, row.hash);
    if (id !== null && SCHEDULE_EVENTS.includes(row.kind)) {
      schedules.set(id, (schedules.get(id) ?? new Map()).set(seq, row.hash));
    }
    if (id === null || version === null || seq <= (lastOf.get(id)?.seq ?? 0)) return;
    // Deleted first, so that the order of the map is that of the last events.
    lastOf.delete(id);
    lastOf.set(id, { ...row, body: '' });
    const [oldest] = lastOf.keys();
    if (oldest && lastOf.size > MOST_CHANGES) lastOf.delete(oldest);
    const { parent } = row.kind === 'planned-return' ? readEventBody(row).body : {};
    if (typeof parent === 'string') reverted.add(parent as ChangeId);
  }

  async function compareChange(db: Db, id: ChangeId): Promise<TrailComparison> {
    const last = lastOf.get(id);
    const rows = db.selectFrom('audit_event').selectAll().where('change_id', '=', id);
    const first = await rows.orderBy('seq').limit(1).executeTakeFirst();
    const isCovered = last !== undefined && (!first || isCurrent(first));
    return {
      isMissing:
        (last !== undefined && !(await isStored(db, last))) || (await lacksScheduleEvent(db, id)),
      verifyFrom: isCovered ? null : (first?.seq ?? null),
    };
  }

  // Without such an event, a schedule that was paused, removed or has run would run again.
  async function lacksScheduleEvent(db: Db, id: ChangeId): Promise<boolean> {
    const known = schedules.get(id);
    if (!known) return false;
    const rows = await db
      .selectFrom('audit_event')
      .select(['seq', 'hash'])
      .where('change_id', '=', id)
      .where('kind', 'in', SCHEDULE_EVENTS)
      .execute();
    const stored = new Map(rows.map(({ seq, hash }) => [seq, hash]));
    return [...known].some(([seq, hash]) => stored.get(seq) !== hash);
  }

  async function compareFreezes(db: Db): Promise<TrailComparison> {
    // Written as in the index `audit_event_freezes`: SQLite uses such an index for the same text only.
    const rows = await db
      .selectFrom('audit_event')
      .selectAll()
      .where(sql<SqlBool>`kind in ('freeze-created', 'freeze-lifted')`)
      .orderBy('seq')
      .execute();
    const stored = new Map(rows.map(({ seq, hash }) => [seq, hash]));
    const isMissing = [...hashes].some(([seq, hash]) => stored.get(seq) !== hash);
    const unknown = rows.filter(({ seq, hash }) => hashes.get(seq) !== hash);
    for (const row of unknown.filter(isCurrent)) hashes.set(row.seq, row.hash);
    return { isMissing, verifyFrom: unknown.find((row) => !isCurrent(row))?.seq ?? null };
  }

  return { add, compareChange, compareFreezes, isRevertPlanned: (id) => reverted.has(id) };
}

const FREEZES: readonly string[] = ['freeze-created', 'freeze-lifted'];

// The comparison with the audit trail reads the body of an event with these columns.
async function isStored(db: Db, { seq, hash, change_id, version }: AuditEventTable) {
  const row = await db
    .selectFrom('audit_event')
    .select(['hash', 'change_id', 'version'])
    .where('seq', '=', seq)
    .executeTakeFirst();
  return row?.hash === hash && row.change_id === change_id && row.version === version;
}
