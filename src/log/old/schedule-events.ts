import { z } from 'zod';
import type { JsonObject } from '../../base/text.ts';
import type { ChangeId, UserId } from '../../domain/change.ts';
import { StoredInstant } from '../../storage/old/portable.ts';
import type { AuditEventTable, Db, Tx } from '../../storage/old/schema.ts';
import { appendEvent } from './append.ts';
import { readEventBody } from './chain.ts';
import { authenticityCheck } from './key-eras.ts';
import type { AuditKey } from './key-ring.ts';

/** What happened to a schedule, with the words that the audit trail shows. */
const ACTIONS = {
  'schedule-started': 'put into force',
  'schedule-paused': 'paused',
  'schedule-resumed': 'resumed',
  'schedule-ended': 'ended',
  'schedule-run': 'planned a run of',
  'schedule-skipped': 'skipped a run of',
} as const;
type ScheduleEventKind = keyof typeof ACTIONS;

/** The kinds of these events. */
export const SCHEDULE_EVENTS: readonly string[] = Object.keys(ACTIONS);
/** Those that decide whether a schedule is in force. Its runs are a hundred times as many. */
const SCHEDULE_STATE_EVENTS = SCHEDULE_EVENTS.filter(
  (kind) => kind !== 'schedule-run' && kind !== 'schedule-skipped',
);

interface ScheduleEvent {
  readonly kind: ScheduleEventKind;
  readonly by: UserId | 'signalbox';
  readonly at: Date;
  readonly facts?: JsonObject;
}

/** Records what happened to a schedule, under the id of the change that created it. */
export async function recordSchedule(
  tx: Tx,
  key: AuditKey,
  changeId: ChangeId,
  { kind, by, at, facts = {} }: ScheduleEvent,
): Promise<void> {
  await appendEvent(tx, key, { kind, changeId, at, body: { by, did: ACTIONS[kind], ...facts } });
}

/** A schedule as the audit trail records it. */
export interface RecordedSchedule {
  readonly until: Date;
  readonly isPaused: boolean;
  /** Why it has ended; null while it is in force or paused. */
  readonly ended: string | null;
  /** Occurrences up to this time are handled, or do not count. */
  readonly since: Date;
}

const Started = z.object({ until: StoredInstant });
const Handled = z.object({ occurrence: StoredInstant });

/**
 * Returns what the audit trail records of a schedule. Null if it records no start, or if one of its
 * events is not authentic: then nothing runs.
 */
export async function recordedSchedule(
  db: Db,
  keys: AuditKey,
  id: ChangeId,
): Promise<RecordedSchedule | null> {
  return (await readSchedules(db, keys, [id], SCHEDULE_EVENTS))(id);
}

/**
 * Reads several schedules at once, for a list, and returns what the trail records of one; this throws for
 * an unreadable event. It reads no runs, so that `since` is too early.
 */
export function recordedSchedules(
  db: Db,
  keys: AuditKey,
  ids: readonly ChangeId[],
): Promise<(id: ChangeId) => RecordedSchedule | null> {
  return readSchedules(db, keys, ids, SCHEDULE_STATE_EVENTS);
}

async function readSchedules(
  db: Db,
  keys: AuditKey,
  ids: readonly ChangeId[],
  kinds: readonly string[],
): Promise<(id: ChangeId) => RecordedSchedule | null> {
  if (ids.length === 0) return () => null;
  const rows = await db
    .selectFrom('audit_event')
    .selectAll()
    .where('change_id', 'in', ids)
    .where('kind', 'in', kinds)
    .orderBy('seq')
    .execute();
  const isAuthentic = await authenticityCheck(db, keys);
  const own = Map.groupBy(rows, ({ change_id }) => change_id);
  return (id) => scheduleOf(own.get(id) ?? [], isAuthentic);
}

function scheduleOf(
  rows: readonly AuditEventTable[],
  isAuthentic: (row: AuditEventTable) => boolean,
): RecordedSchedule | null {
  if (!rows.every(isAuthentic)) return null;
  let found: RecordedSchedule | null = null;
  for (const row of rows) {
    const { body, at } = readEventBody(row);
    if (row.kind === 'schedule-started') {
      const { until } = Started.parse(body);
      found ??= { until, isPaused: false, ended: null, since: at };
    } else if (found) {
      // The kinds of the query are the keys of ACTIONS.
      found = AFTER[row.kind as Exclude<ScheduleEventKind, 'schedule-started'>](found, body, at);
    }
  }
  return found;
}

type Change = (before: RecordedSchedule, body: JsonObject, at: Date) => RecordedSchedule;

const handled: Change = (before, body) => {
  const { occurrence } = Handled.parse(body);
  return { ...before, since: occurrence > before.since ? occurrence : before.since };
};

const AFTER: Readonly<Record<Exclude<ScheduleEventKind, 'schedule-started'>, Change>> = {
  'schedule-paused': (before) => ({ ...before, isPaused: true }),
  // What was due while the schedule was paused does not run afterwards.
  'schedule-resumed': (before, _body, at) => ({ ...before, isPaused: false, since: at }),
  'schedule-ended': (before, { why }) => ({ ...before, ended: before.ended ?? String(why) }),
  'schedule-run': handled,
  'schedule-skipped': handled,
};
