import { ApiError } from '../base/errors.ts';
import type { Change, ChangeId } from '../domain/change.ts';
import { inheritChange } from '../domain/draft.ts';
import { gate, REVERT_GRACE_MS } from '../domain/gate.ts';
import { loadChange } from '../log/index.ts';
import type { RevertStopReason, WorkflowContext } from './context.ts';
import type { JobResult } from './jobs.ts';
import { advance, begin, type Moves, noteMoved, unusedId } from './moves.ts';
import { isUnchangedSince, type PlannedLine, planLine } from './request.ts';

/**
 * The job of a timed change that succeeded: its revert is planned at once, as a change of its own, so that people see
 * it and can cancel it before it runs. Decided again under the lock: of two processes, the first one plans it.
 */
export async function planRevert(context: WorkflowContext, id: ChangeId): Promise<JobResult> {
  const seen = await loadChange(context.events, id);
  if (!seen) return 'done';
  const first = gate(seen, 'revert', { now: context.now(), isUnchanged: null });
  const found = first === 'allowed' ? await planInverse(context, seen) : first.keeps;
  let child = null as Moves | null;
  await advance(
    context,
    id,
    async (parent, locked) => {
      const facts = { now: new Date(locked.at), isUnchanged: found !== 'moved' };
      const answer = gate(parent, 'revert', facts);
      const planned = answer === 'allowed' ? found : answer.keeps;
      const { revertAt } = parent;
      // There is nothing to revert any more.
      if (planned === null || revertAt === null) return null;
      // From then on only a person can revert it.
      if (typeof planned === 'string') return gate(parent, 'keep', { why: planned });
      const { command, plan } = planned;
      const timing = { startAt: revertAt.toISOString(), revert: null };
      const latest = Math.max(revertAt.getTime(), locked.at) + REVERT_GRACE_MS;
      const drafted = inheritChange(parent, {
        ...{ command: command.name, plan: { ...plan, timing }, parent: id },
        ...{ notBefore: revertAt, expiresAt: new Date(latest) },
      });
      child = begin(context, locked.at, await unusedId(context, locked), drafted);
      return { type: 'revert-planned', child: child.change.id };
    },
    () => child,
  );
  if (child) noteMoved(context, null, child.change);
  return 'done';
}

/** The planned revert, or why Signalbox does not revert the change. */
async function planInverse(
  context: WorkflowContext,
  parent: Change,
): Promise<PlannedLine | RevertStopReason> {
  try {
    if (!(await isUnchangedSince(context, parent))) return 'moved';
    const { target, timing } = parent.plan;
    return (await planLine(context, timing?.revert?.line ?? '', target, parent)) ?? 'unclear';
  } catch (error) {
    // Only a 404 of the API itself is definite. Any other error may be temporary.
    const isAnswer = error instanceof ApiError && error.kind === 'answer';
    if (isAnswer && error.status === 404) return 'gone';
    throw error;
  }
}
