import { InvalidRequest } from '../../base/errors.ts';
import { DAY_MS } from '../../base/time.ts';
import { nextOccurrence } from '../../base/weekly-times.ts';
import type { Change, ChangeId, UserId } from '../../domain/change.ts';
import {
  SCHEDULE_DAYS,
  type ScheduleService,
  type ServiceSchedule,
  timesOf,
  weeklyPlanOf,
} from '../../domain/schedules.ts';
import { loadChange, loadChanges } from '../../log/old/changes.ts';
import {
  type RecordedSchedule,
  recordedSchedule,
  recordedSchedules,
  recordSchedule,
} from '../../log/old/schedule-events.ts';
import {
  currentSchedules,
  hasSchedule,
  insertSchedule,
  lastRuns,
  lockSchedule,
  markEnded,
  type ScheduleRun,
  type StoredSchedule,
  setNextAt,
} from '../../log/old/schedules.ts';
import type { Db, Tx } from '../../storage/old/database.ts';
import { enqueue } from '../../storage/old/outbox.ts';
import type { DecisionContext } from './ports.ts';

type ScheduleContext = Pick<DecisionContext, 'database' | 'auditKey' | 'people' | 'now' | 'log'>;

/** The requester is reminded this long before the end. */
const REMIND_MS = 7 * DAY_MS;
/** Why a schedule ended that nobody renewed. */
export const EXPIRED = 'expired';
const ENDED = { field: 'schedule', problem: 'has ended' };

/** Stores the schedules of services. Callers have authorized the change before. */
export function createScheduleService(context: ScheduleContext): ScheduleService {
  const { database, people } = context;
  const { db } = database;
  return {
    all: async () => listed(context, await currentSchedules(db)),
    of: async (service) => (await listed(context, await currentSchedules(db, service)))[0] ?? null,
    zoneOf: (by) => people.zoneOf(by),
    begin: (id) => database.transaction((tx) => begin(tx, context, id)),
    hasBegun: (id) => hasSchedule(db, id),
    pause: ({ schedule, by }) =>
      act(context, schedule, (tx) => pauseSchedule(tx, context, schedule, by)),
    resume: ({ schedule, by }) => act(context, schedule, (tx) => resume(tx, context, schedule, by)),
    remove: ({ schedule, by }) =>
      act(context, schedule, (tx) => endSchedule(tx, context, schedule, { by, why: 'removed' })),
  };
}

/** A schedule that cannot be read is logged and left out; it does not run either. */
async function listed(
  { database: { db }, auditKey, now, log }: ScheduleContext,
  stored: readonly StoredSchedule[],
): Promise<readonly ServiceSchedule[]> {
  const ids = stored.map(({ id }) => id);
  const unreadable = (id: ChangeId, err: unknown) =>
    log.error({ err, change: id }, 'schedule is not readable and is not shown');
  const [changes, recordOf, runs] = await Promise.all([
    loadChanges(db, ids, unreadable),
    recordedSchedules(db, auditKey, ids),
    lastRuns(db, ids),
  ]);
  return ids.flatMap((id) => {
    const change = changes.get(id);
    try {
      const recorded = recordOf(id);
      if (!change || !recorded || recorded.ended !== null) return [];
      return [viewOf(change, recorded, { now: now(), lastRun: runs.get(id) })];
    } catch (error) {
      unreadable(id, error);
      return [];
    }
  });
}

function viewOf(
  change: Change,
  { until, isPaused }: RecordedSchedule,
  { now, lastRun }: { readonly now: Date; readonly lastRun: ScheduleRun | undefined },
): ServiceSchedule {
  const { target, body } = change.plan;
  const next = isPaused ? null : nextOccurrence(weeklyPlanOf(change), now);
  return {
    id: change.id,
    service: { id: target.id, name: target.name },
    ...timesOf({ fields: body }),
    by: change.requester,
    until,
    isPaused,
    next: next && next.at < until ? next : null,
    lastSkipped: lastRun?.skipped ?? null,
  };
}

async function begin(tx: Tx, context: ScheduleContext, id: ChangeId): Promise<void> {
  if (await hasSchedule(tx, id)) return;
  const change = await loadChange(tx, id);
  if (!change) throw new Error(`The change ${id} of a schedule does not exist`);
  const at = context.now();
  const { id: service } = change.plan.target;
  for (const current of await currentSchedules(tx, service)) {
    await endSchedule(tx, context, current.id, {
      by: change.requester,
      why: 'replaced',
      facts: { next: id },
    });
  }
  const until = new Date(at.getTime() + SCHEDULE_DAYS * DAY_MS);
  const nextAt = nextTime(change, at, until);
  await insertSchedule(tx, { id, service, nextAt, until, createdAt: at });
  const facts = { until: until.toISOString() };
  const by = change.requester;
  await recordSchedule(tx, context.auditKey, id, { kind: 'schedule-started', by, at, facts });
  const remindAt = new Date(until.getTime() - REMIND_MS);
  await enqueue(tx, { changeId: id, kind: 'schedule-reminder', at: remindAt });
}

/** The next occurrence, but not after the end: then the schedule expires. */
export function nextTime(change: Pick<Change, 'plan'>, after: Date, until: Date): Date {
  const next = nextOccurrence(weeklyPlanOf(change), after);
  return next && next.at < until ? next.at : until;
}

async function act(
  { database }: ScheduleContext,
  id: ChangeId,
  work: (tx: Tx) => Promise<boolean>,
): Promise<void> {
  const isDone = await database.transaction(async (tx) => {
    await lockSchedule(tx, id);
    return work(tx);
  });
  if (!isDone) throw new InvalidRequest('schedule', [ENDED]);
}

/** Pauses a schedule; false if it is not in force. */
export async function pauseSchedule(
  tx: Tx,
  context: Pick<ScheduleContext, 'auditKey' | 'now'>,
  id: ChangeId,
  by: UserId | 'signalbox',
): Promise<boolean> {
  const recorded = await inForce(tx, context, id);
  if (!recorded) return false;
  const at = context.now();
  await recordSchedule(tx, context.auditKey, id, { kind: 'schedule-paused', by, at });
  await setNextAt(tx, id, recorded.until);
  return true;
}

async function resume(
  tx: Tx,
  context: ScheduleContext,
  id: ChangeId,
  by: UserId,
): Promise<boolean> {
  const recorded = await inForce(tx, context, id);
  const change = await loadChange(tx, id);
  if (!recorded || !change) return false;
  const at = context.now();
  await recordSchedule(tx, context.auditKey, id, { kind: 'schedule-resumed', by, at });
  await setNextAt(tx, id, nextTime(change, at, recorded.until));
  return true;
}

async function inForce(
  db: Db,
  { auditKey, now }: Pick<ScheduleContext, 'auditKey' | 'now'>,
  id: ChangeId,
): Promise<RecordedSchedule | null> {
  const recorded = await recordedSchedule(db, auditKey, id);
  return recorded && recorded.ended === null && now() < recorded.until ? recorded : null;
}

interface EndOfSchedule {
  readonly by: UserId | 'signalbox';
  readonly why: string;
  readonly facts?: { readonly [key: string]: string };
}

/** Ends a schedule for good; false if it had ended. */
export async function endSchedule(
  tx: Tx,
  { auditKey, now }: Pick<ScheduleContext, 'auditKey' | 'now'>,
  id: ChangeId,
  { by, why, facts }: EndOfSchedule,
): Promise<boolean> {
  const at = now();
  if (!(await markEnded(tx, id, at))) return false;
  await recordSchedule(tx, auditKey, id, {
    kind: 'schedule-ended',
    by,
    at,
    facts: { why, ...facts },
  });
  return true;
}
