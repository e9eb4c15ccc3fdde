import { HOUR_MS } from '../../base/time.ts';
import type { ChangeId, State } from '../../domain/change.ts';
import { toText } from '../../storage/old/portable.ts';
import type { AuditEventTable, Db } from '../../storage/old/schema.ts';
import type { AcceptedGap } from './accepted-gaps.ts';
import type { Walk } from './chain.ts';
import { IS_OPEN } from './change-query.ts';
import { recordedFreezes } from './freeze-events.ts';
import type { AuditKey } from './key-ring.ts';
import { firstSeqSince } from './read-range.ts';
import { recordedSchedule } from './schedule-events.ts';

const ENDED: readonly (State | null)[] = [
  'succeeded',
  'failed',
  'rejected',
  'cancelled',
  'expired',
  'stale',
  'denied',
];

/** Clocks of replicas differ: the times of events may be out of order by this much. */
const SKEW_MS = HOUR_MS;

/** What the boundary is decided from: the events, read once while they are verified. */
export interface BoundaryScan {
  /** To be called with each valid event in order. */
  readonly add: (row: AuditEventTable) => void;
  /** Changes of the old events whose end is not among them. */
  readonly unended: () => Iterable<ChangeId>;
  /** Schedules that started among the old events. */
  readonly schedules: () => Iterable<ChangeId>;
}

/** Events up to `latest` are old enough. */
export function createBoundaryScan(latest: number): BoundaryScan {
  const unended = new Set<ChangeId>();
  const schedules = new Set<ChangeId>();
  return {
    add: ({ seq, kind, change_id: id, version, to_state: to }) => {
      if (seq > latest || id === null) return;
      if (kind === 'schedule-started') schedules.add(id);
      if (version === null) return;
      if (ENDED.includes(to)) unended.delete(id);
      else unended.add(id);
    },
    unended: () => unended,
    schedules: () => schedules,
  };
}

/** Returns the number of the last event that is older than `before` on the clock of every replica. */
export async function lastSeqBefore(db: Db, before: Date): Promise<number> {
  return (await firstSeqSince(db, new Date(before.getTime() - SKEW_MS))) - 1;
}

/** Why older events stay: the first event of this change comes next. */
export interface Holder {
  readonly id: ChangeId;
  readonly seq: number;
}

interface BoundaryFacts {
  readonly keys: AuditKey;
  readonly before: Date;
  readonly latest: number;
  readonly scan: BoundaryScan;
  readonly gaps: readonly AcceptedGap[];
}

/**
 * Returns the change whose first event limits what may be archived, or null. It is open, ended after
 * `before`, waits for its review or revert, or is a freeze or a schedule in force. The audit trail
 * decides; a row that is open holds its events as well.
 */
export async function firstHolder(db: Db, facts: BoundaryFacts): Promise<Holder | null> {
  const { keys, before, latest, scan } = facts;
  const freezes = [...(await recordedFreezes(db, keys)).values()];
  const inForce = freezes.flatMap(({ freeze, lifted }) =>
    lifted || freeze.until < before ? [] : [freeze.id],
  );
  const scheduled: ChangeId[] = [];
  for (const id of scan.schedules()) {
    const found = await recordedSchedule(db, keys, id);
    if (!found || (found.ended === null && found.until >= before)) scheduled.push(id);
  }
  const rows = await openRows(db, before);
  const unended = await withoutLostEnds(db, facts);
  const ids = new Set([...unended, ...scheduled, ...inForce, ...rows]);
  let first: Holder | null = null;
  for (const id of ids) {
    const seq = await firstSeqOf(db, id);
    if (seq !== null && seq <= latest && (first === null || seq < first.seq)) first = { id, seq };
  }
  return first;
}

/** The end of a change may be in an accepted gap after its first event: then its row decides. */
async function withoutLostEnds(
  db: Db,
  { before, scan, gaps }: BoundaryFacts,
): Promise<readonly ChangeId[]> {
  const kept: ChangeId[] = [];
  for (const id of scan.unended()) {
    const seq = (await firstSeqOf(db, id)) ?? 0;
    const isLost = gaps.some(({ gap }) => gap.next > seq);
    if (!isLost || (await isRecent(db, id, before))) kept.push(id);
  }
  return kept;
}

async function isRecent(db: Db, id: ChangeId, before: Date): Promise<boolean> {
  const query = db.selectFrom('change').select('ended_at').where('id', '=', id);
  const row = await query.executeTakeFirst();
  return row !== undefined && (row.ended_at === null || row.ended_at >= toText(before));
}

async function firstSeqOf(db: Db, id: ChangeId): Promise<number | null> {
  const query = db.selectFrom('audit_event').select('seq').where('change_id', '=', id);
  return (await query.orderBy('seq').limit(1).executeTakeFirst())?.seq ?? null;
}

/** Open changes with the changes that they revert, and ended ones that wait for a review or a revert. */
async function openRows(db: Db, before: Date): Promise<readonly ChangeId[]> {
  const changes = db.selectFrom('change').select(['id', 'parent']);
  const open = await changes.where(() => IS_OPEN).execute();
  const unreviewed = changes
    .where('broken_glass', 'is not', null)
    .where('parent', 'is', null)
    .where('review', 'is', null);
  const unreverted = changes
    .where('state', '=', 'succeeded')
    .where('back_at', '>=', toText(before))
    .where('revert_planned_at', 'is', null);
  const others = [...(await unreviewed.execute()), ...(await unreverted.execute())];
  return [...open, ...others].flatMap(({ id, parent }) => (parent === null ? [id] : [id, parent]));
}

/** Returns a boundary that does not cut an accepted gap. */
export function outsideGaps(boundary: number, gaps: readonly AcceptedGap[], from: Walk): number {
  const cut = gaps.find(({ gap }) => gap.first <= boundary && boundary < gap.next);
  return Math.max(cut ? cut.gap.first - 1 : boundary, from.seq);
}
