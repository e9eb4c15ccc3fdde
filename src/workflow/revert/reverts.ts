import { keep } from '../../changes/after-outcome.ts';
import type { Change, ChangeId, CostEffect, JsonObject, Plan } from '../../changes/change.ts';
import { RETURN_LATE_BY_MS } from '../../changes/lifecycle.ts';
import { planDigest } from '../../changes/plan-digest.ts';
import { signed } from '../../cost-effect/effect-text.ts';
import { ApiError } from '../../errors.ts';
import type { ChangeCommand } from '../../intent/define.ts';
import { appendEvent } from '../../storage/audit/append.ts';
import { dueToTakeBack } from '../../storage/tables/changes/change-due.ts';
import { insertChange, lockChange } from '../../storage/tables/changes/changes.ts';
import { enqueue } from '../../storage/tables/queues/outbox.ts';
import { stillBackingOff } from '../background/backoff.ts';
import type { RevertStopReason, WorkflowContext } from '../ports.ts';
import { CARD_REPOST, mustMove, recordMove } from '../record.ts';
import { planOf } from '../request/plan.ts';
import { type Inverse, readInverse, servicesNow } from './inverse.ts';
import { isUnchangedSince } from './unchanged-since.ts';

const AT_ONCE = 20;
const AGAIN_AFTER_MS = 30_000;

/**
 * Plans what takes timed changes back as soon as they have succeeded, so that it can be seen, and
 * cancelled, before it runs. What cannot be planned just now is tried again; nothing is dropped.
 */
export function returnsOf(): (context: WorkflowContext) => Promise<number> {
  // Only a brake on asking an API that is down again and again.
  const later = new Map<ChangeId, number>();

  const attempt = async (context: WorkflowContext, change: Change): Promise<boolean> => {
    try {
      await planReturn(context, change);
      later.delete(change.id);
      return true;
    } catch (error) {
      later.set(change.id, context.now().getTime() + AGAIN_AFTER_MS);
      context.log.warn({ err: error, change: change.id }, 'what takes it back is planned later');
      return false;
    }
  };
  return async (context) => {
    const now = context.now().getTime();
    const pass = { limit: AT_ONCE, except: stillBackingOff(later, now) };
    const due = await dueToTakeBack(context.database.db, pass);
    const done = await Promise.all(due.map((change) => attempt(context, change)));
    return done.filter(Boolean).length;
  };
}

async function planReturn(context: WorkflowContext, parent: Change): Promise<void> {
  const { backAt } = parent;
  if (!backAt) return;
  if (context.now().getTime() - backAt.getTime() > RETURN_LATE_BY_MS) {
    return leaveIt(context, parent, 'late');
  }
  const planned = await planInverse(context, parent);
  if (typeof planned === 'string') return leaveIt(context, parent, planned);
  const timing = { startAt: backAt.toISOString(), back: null };
  const { command } = planned;
  const plan: Plan = { ...planned.plan, timing };
  const cost = costBack(parent);
  await record(context, parent, command.name, { ...plan, ...(cost && { cost }) });
}

/** What it moved is moved back: no report has a final day of the size or state of this while. */
function costBack({ id, plan: { cost } }: Change): CostEffect | undefined {
  if (!cost || cost.perDay === null) return cost;
  const perDay = 0 - cost.perDay;
  const share = cost.share === null || cost.share <= -1 ? null : 1 / (1 + cost.share) - 1;
  return { text: `about ${signed(perDay)} credits a day, as before ${id}`, perDay, share };
}

interface PlannedInverse {
  readonly command: ChangeCommand;
  readonly plan: Plan;
}

async function planInverse(
  context: WorkflowContext,
  parent: Change,
): Promise<PlannedInverse | RevertStopReason> {
  const { target, timing } = parent.plan;
  const services = await servicesNow(context, target);
  const inverse = readInverse(context, timing?.back?.line ?? '', target, services);
  if (!inverse) return 'unclear';
  try {
    if (!(await isUnchangedSince(context, parent))) return 'moved';
    return await planned(context, inverse, services);
  } catch (error) {
    // Nothing but the server's own word for it: whatever else goes wrong may be over in a while.
    if (error instanceof ApiError && error.status === 404) return 'gone';
    throw error;
  }
}

async function planned(
  context: WorkflowContext,
  { command, args, given }: Inverse,
  services: Awaited<ReturnType<typeof servicesNow>>,
): Promise<PlannedInverse | RevertStopReason> {
  const commandContext = { ...context.commandContext(), services };
  const found = await planOf(command, args, given as JsonObject, commandContext);
  return found.ok ? { command, plan: found.plan } : 'unclear';
}

async function record(
  context: WorkflowContext,
  parent: Change,
  command: string,
  plan: Plan,
): Promise<void> {
  await context.database.transaction(async (tx) => {
    const now = context.now();
    const current = await lockChange(tx, parent.id);
    // Another replica was first.
    if (!current?.backAt || current.child) return;
    const child = childOf(current, { id: context.newId(), command, plan, now });
    await insertChange(tx, child, { source: 'parent' });
    await appendEvent(tx, context.auditKey, {
      kind: 'planned-return',
      changeId: child.id,
      version: child.version,
      to: child.state,
      at: now,
      body: {
        by: 'signalbox',
        digest: child.digest,
        rule: child.requires.rule,
        parent: parent.id,
        approvers: child.approvals.map(({ by }) => by),
      },
    });
    await enqueue(tx, { changeId: child.id, kind: 'card', at: now });
    await enqueue(tx, { changeId: parent.id, kind: CARD_REPOST, at: now });
  });
}

interface Child {
  readonly id: ChangeId;
  readonly command: string;
  readonly plan: Plan;
  readonly now: Date;
}

/** Approved as one: who asked, who approved and under which rule is carried over. */
function childOf(parent: Change, { id, command, plan, now }: Child): Change {
  const backAt = parent.backAt ?? now;
  return {
    ...parent,
    id,
    command,
    plan,
    digest: planDigest(command, plan),
    state: 'approved',
    version: 1,
    ending: null,
    resolution: null,
    review: null,
    createdAt: now,
    expiresAt: new Date(Math.max(backAt.getTime(), now.getTime()) + RETURN_LATE_BY_MS),
    notBefore: backAt,
    backAt: null,
    parent: parent.id,
    child: undefined,
    lease: null,
    card: null,
  };
}

/** It stays as it is, and nothing but a person changes that. */
export async function leaveIt(
  context: WorkflowContext,
  { id }: Change,
  why: RevertStopReason,
): Promise<void> {
  await context.database.transaction(async (tx) => {
    const change = await lockChange(tx, id);
    if (!change?.backAt || change.child) return;
    const deed = { kind: 'kept', by: 'signalbox', facts: { why } } as const;
    await recordMove(tx, context, change, mustMove(keep(change)), deed);
    await enqueue(tx, { changeId: id, kind: 'kept', body: { why }, at: context.now() });
  });
}
