import { occurrencesBetween } from '../../base/weekly-times.ts';
import type { Change, ChangeId } from '../../domain/change.ts';
import { occurrenceText, weeklyPlanOf } from '../../domain/schedules.ts';
import { loadChange } from '../../log/old/changes.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import { recordedSchedule, recordSchedule } from '../../log/old/schedule-events.ts';
import { dueSchedules, insertRun, lockSchedule, setNextAt } from '../../log/old/schedules.ts';
import type { Tx } from '../../storage/old/database.ts';
import { enqueue } from '../../storage/old/outbox.ts';
import { createBackoff } from './backoff.ts';
import { type DueRun, planRun, type RunPlan, storeRun } from './plan-run.ts';
import type { WorkflowContext } from './ports.ts';
import { EXPIRED, endSchedule, nextTime } from './schedule-service.ts';

const AT_ONCE = 20;
const RETRY_AFTER_MS = 30_000;

/**
 * Returns a background loop that turns each due occurrence of a schedule into a change, or skips it
 * with a note. It retries what fails.
 */
export function createScheduleRunner(context: WorkflowContext): () => Promise<number> {
  const backoff = createBackoff(RETRY_AFTER_MS);

  const attempt = async (id: ChangeId): Promise<boolean> => {
    try {
      await runSchedule(context, id);
      backoff.clear(id);
      return true;
    } catch (error) {
      backoff.postpone(id, context.now());
      context.log.warn({ err: error, change: id }, 'schedule could not run; retrying');
      return false;
    }
  };
  return async () => {
    const page = { limit: AT_ONCE, except: backoff.postponed(context.now()) };
    const due = await dueSchedules(context.database.db, context.now(), page);
    const handled = await Promise.all(due.map(attempt));
    return handled.filter(Boolean).length;
  };
}

async function runSchedule(context: WorkflowContext, id: ChangeId): Promise<void> {
  const schedule = await loadChange(context.database.db, id);
  if (!schedule) throw new Error('The change of a schedule does not exist');
  await context.trail.follow(id);
  const problem = await context.trail.problem(context.database.db);
  if (problem !== null) throw new Error(`no schedule runs: ${problem}`);
  const due = await dueRun(context, schedule);
  const plan = due && (await planRun(context, schedule, due));
  await context.database.transaction((tx) => record(tx, context, schedule, plan));
}

/** The last occurrence that is due; null if there is none. Earlier ones were missed. */
async function dueRun(
  { database: { db }, auditKey, now }: WorkflowContext,
  schedule: Change,
): Promise<DueRun | null> {
  const recorded = await recordedSchedule(db, auditKey, schedule.id);
  if (!recorded) return null;
  const { since, until } = recorded;
  const last = new Date(Math.min(now().getTime(), until.getTime()));
  const due = occurrencesBetween(weeklyPlanOf(schedule), since, last);
  const occurrence = due.at(-1);
  return occurrence ? { occurrence, missed: due.length - 1, since } : null;
}

/** Decides again in one transaction, because users and other replicas may have acted meanwhile. */
async function record(
  tx: Tx,
  context: WorkflowContext,
  { id }: Change,
  plan: RunPlan | null,
): Promise<void> {
  const { auditKey } = context;
  const now = context.now();
  const stored = await lockSchedule(tx, id);
  const schedule = await loadChange(tx, id);
  if (stored?.endedAt !== null || !schedule) return;
  // The run inherits the approvals of its schedule, so that the trail must confirm the schedule.
  const recorded = await recordedSchedule(tx, auditKey, id);
  const refusal = recorded ? await auditRefusal(tx, auditKey, schedule) : 'audit-mismatch';
  if (!recorded || refusal || recorded.ended !== null) {
    context.log.error({ change: id }, 'schedule does not match the audit trail; it ended');
    await endSchedule(tx, context, id, { by: 'signalbox', why: refusal ?? 'audit-mismatch' });
    return note(tx, context, id, 'It does not match the audit trail, so it ended.');
  }
  const isCurrent = plan?.due.since.getTime() === recorded.since.getTime();
  const isDue = plan !== null && isCurrent && !recorded.isPaused;
  if (isDue) await recordRun(tx, context, schedule, plan);
  if (now >= recorded.until) return expire(tx, context, id);
  // Not from now on: another occurrence may have become due while this one was planned.
  const since = isDue ? plan.due.occurrence.at : recorded.since;
  // A paused schedule only waits for its end.
  const next = recorded.isPaused ? recorded.until : nextTime(schedule, since, recorded.until);
  await setNextAt(tx, id, next);
}

/** The row comes first: of several replicas, one inserts it. */
async function recordRun(
  tx: Tx,
  context: WorkflowContext,
  schedule: Change,
  plan: RunPlan,
): Promise<void> {
  const { occurrence, missed } = plan.due;
  const { action, at: time } = occurrence;
  const planned = plan.kind === 'run' ? plan.run : null;
  const why = plan.kind === 'skip' ? plan.why : null;
  const at = context.now();
  const handled = { schedule: schedule.id, occurrence: time, action, at, skipped: why };
  const isFirst = await insertRun(tx, { ...handled, change: planned?.id ?? null });
  // The row is locked, and the trail has no such run: the row was written into the database.
  const run = isFirst ? planned : null;
  const skipped = isFirst ? why : 'the database has a run that the audit trail does not have';
  const facts = { occurrence: time.toISOString(), action, missed };
  const result = run ? { run: run.id } : { why: skipped };
  await recordSchedule(tx, context.auditKey, schedule.id, {
    ...{ kind: run ? 'schedule-run' : 'schedule-skipped', by: 'signalbox', at },
    facts: { ...facts, ...result },
  });
  if (run) await storeRun(tx, context, schedule, run);
  const what = occurrenceText(occurrence, weeklyPlanOf(schedule).timezone);
  if (skipped !== null) await note(tx, context, schedule.id, `Skipped the ${what}: ${skipped}.`);
  if (missed > 0) await note(tx, context, schedule.id, `Earlier runs were missed: ${missed}.`, 'm');
}

async function expire(tx: Tx, context: WorkflowContext, id: ChangeId): Promise<void> {
  await endSchedule(tx, context, id, { by: 'signalbox', why: EXPIRED });
  await enqueue(tx, { changeId: id, kind: 'schedule-reminder', at: context.now() });
}

async function note(
  tx: Tx,
  { now }: WorkflowContext,
  changeId: ChangeId,
  text: string,
  part = '',
): Promise<void> {
  const key = `${now().toISOString()}${part}`;
  await enqueue(tx, { changeId, kind: 'schedule-note', key, text, at: now() });
}
