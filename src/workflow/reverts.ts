import { ApiError } from '../base/errors.ts';
import type { JsonObject } from '../base/text.ts';
import type { Change, ChangeId, Plan } from '../domain/change.ts';
import { inheritChange } from '../domain/draft.ts';
import { gate, REVERT_GRACE_MS } from '../domain/gate.ts';
import type { Service } from '../domain/targets.ts';
import { loadChange } from '../log/index.ts';
import type { DecisionContext, RevertStopReason, WorkflowContext } from './context.ts';
import type { JobKind } from './jobs.ts';
import { advance, begin, type Moves, noteMoved, unusedId } from './moves.ts';
import {
  type Inverse,
  isUnchangedSince,
  planChange,
  readInverse,
  servicesWithLatestReply,
} from './request.ts';

const RETRY_MS = 30_000;

/**
 * The job of a timed change that succeeded: its revert is planned at once, as a change of its own, so that people see
 * it and can cancel it before it runs.
 */
export function revertKind(context: WorkflowContext): JobKind {
  return {
    lane: 'background',
    retryMs: () => RETRY_MS,
    run: async ({ key }) => {
      await planRevert(context, key as ChangeId);
      return 'done';
    },
  };
}

async function planRevert(context: WorkflowContext, id: ChangeId): Promise<void> {
  const parent = await loadChange(context.events, id);
  const revertAt = parent?.revertAt;
  if (!parent || !revertAt) return;
  const first = gate(parent, 'revert', { now: context.now(), isUnchanged: null });
  if (first !== 'allowed') return keep(context, id, first.keeps);
  const planned = await planInverse(context, parent);
  if (typeof planned === 'string') return keep(context, id, planned);
  const timing = { startAt: revertAt.toISOString(), revert: null };
  const plan: Plan = { ...planned.plan, timing };
  await recordRevert(context, id, { command: planned.command, plan });
}

interface PlannedRevert {
  readonly command: string;
  readonly plan: Plan;
}

async function planInverse(
  context: WorkflowContext,
  parent: Change,
): Promise<PlannedRevert | RevertStopReason> {
  const { target, timing } = parent.plan;
  const services = await servicesWithLatestReply(context, target);
  const inverse = readInverse(context, timing?.revert?.line ?? '', target, services);
  if (!inverse) return 'unclear';
  try {
    const isUnchanged = await isUnchangedSince(context, parent);
    const answer = gate(parent, 'revert', { now: context.now(), isUnchanged });
    if (answer !== 'allowed') return answer.keeps ?? 'unclear';
    return await planWith(context, parent, inverse, services);
  } catch (error) {
    // Only a 404 of the API itself is definite. Any other error may be temporary.
    const isAnswer = error instanceof ApiError && error.kind === 'answer';
    if (isAnswer && error.status === 404) return 'gone';
    throw error;
  }
}

async function planWith(
  context: WorkflowContext,
  parent: Change,
  { command, args, given }: Inverse,
  services: readonly Service[],
): Promise<PlannedRevert | RevertStopReason> {
  const commandContext = { ...context.commandContext(), services };
  // A server can return the previous sizes for a while after it accepted the new ones.
  const settled = command.name === parent.command ? parent.plan.body : {};
  const entered = { args, given: given as JsonObject, settled };
  const planned = await planChange(command, entered, commandContext);
  return planned.ok ? { command: command.name, plan: planned.plan } : 'unclear';
}

/** Decides again under the lock; of two processes, the first one plans the revert. */
async function recordRevert(
  context: DecisionContext,
  id: ChangeId,
  planned: PlannedRevert,
): Promise<void> {
  let child = null as Moves | null;
  let keeps = null as RevertStopReason | null;
  await advance(
    context,
    id,
    async (parent, locked) => {
      const answer = gate(parent, 'revert', { now: new Date(locked.at), isUnchanged: true });
      if (answer !== 'allowed') keeps = answer.keeps;
      if (answer !== 'allowed' || !parent.revertAt) return null;
      const latest = Math.max(parent.revertAt.getTime(), locked.at) + REVERT_GRACE_MS;
      const times = { notBefore: parent.revertAt, expiresAt: new Date(latest) };
      const drafted = inheritChange(parent, { ...planned, ...times, parent: id });
      child = begin(context, locked.at, await unusedId(context, locked), drafted);
      return { type: 'revert-planned', child: child.change.id };
    },
    () => child,
  );
  if (child) noteMoved(context, null, child.change);
  else await keep(context, id, keeps);
}

/** Records that Signalbox does not revert a change. From then on only a person can revert it. */
async function keep(
  context: DecisionContext,
  id: ChangeId,
  why: RevertStopReason | null,
): Promise<void> {
  // Null: there is nothing to revert any more.
  if (why) await advance(context, id, (change) => gate(change, 'keep', { why }));
}
