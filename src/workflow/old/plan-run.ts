import type { JsonObject } from '../../base/text.ts';
import type { Occurrence } from '../../base/weekly-times.ts';
import type { Change, Plan, Target } from '../../domain/change.ts';
import { inheritChange } from '../../domain/draft.ts';
import { START_GRACE_MS } from '../../domain/fold.ts';
import { weeklyPlanOf } from '../../domain/schedules.ts';
import { appendEvent } from '../../log/old/append.ts';
import { insertChange } from '../../log/old/changes.ts';
import { hashOfRecord } from '../../log/old/record-hash.ts';
import type { Tx } from '../../storage/old/database.ts';
import { enqueue } from '../../storage/old/outbox.ts';
import { currentTarget } from './current-target.ts';
import { readInverse, servicesWithLatestReply } from './inverse.ts';
import { planChange } from './plan.ts';
import type { WorkflowContext } from './ports.ts';
import { skipReason } from './skip-reason.ts';

/** An occurrence that is due. */
export interface DueRun {
  readonly occurrence: Occurrence;
  /** How many earlier occurrences were missed. */
  readonly missed: number;
  /** Up to when the audit trail has handled the occurrences. */
  readonly since: Date;
}

export type RunPlan =
  | { readonly kind: 'run'; readonly due: DueRun; readonly run: Change }
  | { readonly kind: 'skip'; readonly due: DueRun; readonly why: string };

const GONE = 'Signalbox does not know the service any more';

/** Plans the change of an occurrence from the current state of the service. Stores nothing. */
export async function planRun(
  context: WorkflowContext,
  schedule: Change,
  due: DueRun,
): Promise<RunPlan> {
  const target = currentTarget(context, { ...schedule.plan, target: serviceOf(schedule) });
  const why = await skipReason(context, target, weeklyPlanOf(schedule), due.occurrence);
  if (why !== null) return { kind: 'skip', due, why };
  const planned = await planAction(context, target, due.occurrence);
  if (typeof planned === 'string') return { kind: 'skip', due, why: planned };
  const now = context.now();
  const { at } = due.occurrence;
  const run = inheritChange(schedule, {
    ...{ id: context.newId(), command: planned.command, now, parent: null },
    plan: { ...planned.plan, timing: timingOf(schedule, at) },
    ...{ notBefore: at, expiresAt: new Date(at.getTime() + START_GRACE_MS) },
  });
  return { kind: 'run', due, run };
}

function serviceOf({ plan }: Change): Target {
  return { ...plan.target, kind: 'service' };
}

function timingOf({ id }: Change, at: Date): NonNullable<Plan['timing']> {
  return { startAt: at.toISOString(), revert: null, schedule: id };
}

/** Returns the plan of the start or stop, or why it is not needed. */
async function planAction(
  context: WorkflowContext,
  target: Target,
  { action }: Occurrence,
): Promise<{ readonly command: string; readonly plan: Plan } | string> {
  const services = await servicesWithLatestReply(context, target);
  const read = readInverse(context, `service ${action} ${target.id}`, target, services);
  if (!read) return GONE;
  const { command, args, given } = read;
  const commandContext = { ...context.commandContext(), services };
  const planned = await planChange(command, { args, given: given as JsonObject }, commandContext);
  if (!planned.ok) return GONE;
  const isDone = command.noEffect?.(args, planned.plan.before) ?? null;
  if (isDone) return `the service is ${String(planned.plan.before?.fields.state)} already`;
  return { command: command.name, plan: planned.plan };
}

/** Stores the change of a run with its first audit event and its card. */
export async function storeRun(
  tx: Tx,
  context: WorkflowContext,
  schedule: Change,
  run: Change,
): Promise<void> {
  const stored = await insertChange(tx, run, { source: 'schedule' });
  await enqueue(tx, { changeId: run.id, kind: 'card', at: run.createdAt });
  await appendEvent(tx, context.auditKey, {
    kind: 'scheduled',
    changeId: run.id,
    version: run.version,
    to: run.state,
    at: run.createdAt,
    body: {
      by: 'signalbox',
      digest: run.digest,
      record: hashOfRecord(stored),
      rule: run.requires.rule,
      parent: schedule.id,
      approvers: run.approvals.map(({ by }) => by),
    },
  });
}
