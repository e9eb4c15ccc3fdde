import type { Plan, Requirement, Timing, UserId } from '../../changes/change.ts';
import type { FieldProblem } from '../../errors.ts';
import { NO_TIMING, type RequestedTiming } from '../../intent/arguments/timing.ts';
import type { ChangeCommand } from '../../intent/define.ts';
import { combineRequirements } from '../../policy/combine-requirements.ts';
import type { authorizeCommand, Refused } from '../authorize.ts';
import type { WorkflowContext } from '../ports.ts';
import { readInverse } from '../revert/inverse.ts';
import { startsAt, startTimeOf } from './start-time.ts';

type TimedPlan = { readonly ok: true; readonly plan: Plan } | Problems;

interface Problems {
  readonly ok: false;
  readonly problems: readonly FieldProblem[];
}

interface TimedRequest {
  readonly command: ChangeCommand;
  readonly timing?: RequestedTiming;
  readonly requester: UserId;
}

/** Adds the timing to a plan: when the change starts, and which command reverts it when. */
export async function timePlan(
  context: WorkflowContext,
  { timing = NO_TIMING, command, requester }: TimedRequest,
  plan: Plan,
): Promise<TimedPlan> {
  const needsZone = timing.at !== null && timing.at.offset === null;
  const zone = needsZone ? await context.people.zoneOf(requester) : null;
  const start = startTimeOf(timing, { zone, now: context.now() });
  if (!start.ok) return start;

  const found = timing.forMs === null ? null : revertOf(context, command, plan, timing.forMs);
  if (found && !found.ok) return found;
  if (start.at === null && found === null) return { ok: true, plan };
  const { revert = null } = found ?? {};
  const warnings = [...start.warnings, ...plan.warnings];
  const startAt = start.at?.toISOString() ?? null;
  return { ok: true, plan: { ...plan, warnings, timing: { startAt, revert } } };
}

const NOT_KNOWN = 'the previous values are not known';

// Signalbox runs the revert later by its command line, so that the line must be readable now.
function revertOf(
  context: WorkflowContext,
  command: ChangeCommand,
  plan: Plan,
  afterMs: number,
): { readonly ok: true; readonly revert: NonNullable<Timing['revert']> } | Problems {
  const undo = command.undo(plan.target, plan.before, plan.body);
  const inverse = undo && readInverse(context, undo.line, plan.target);
  if (!inverse) {
    const why = command.noUndo?.(plan.before, plan.body) ?? NOT_KNOWN;
    const problem = `does not work here: ${why}, so that Signalbox cannot revert it`;
    return { ok: false, problems: [{ field: 'for', problem }] };
  }
  return { ok: true, revert: { ...undo, afterMs } };
}

type Authorize = (command: string, at: Date) => ReturnType<typeof authorizeCommand>;

/**
 * Returns one requirement for a change and its revert, which are approved together. The requester
 * must be allowed to run the revert at its scheduled time as well.
 */
export async function requirementWithRevert(
  context: WorkflowContext,
  plan: Plan,
  requires: Requirement,
  authorize: Authorize,
): Promise<{ readonly ok: true; readonly requires: Requirement } | Refused | Problems> {
  const revert = plan.timing?.revert;
  if (!revert) return { ok: true, requires };
  const command = readInverse(context, revert.line, plan.target)?.command.name ?? '';
  const at = new Date(startsAt(plan, context.now()).getTime() + revert.afterMs);
  const authorized = await authorize(command, at);
  if (!authorized.ok) return authorized;
  const { decision } = authorized;
  const both = combineRequirements(requires, decision.requires);
  if (both) return { ok: true, requires: both };
  const problem = `does not work here: rule ${decision.requires.rule} has other approvers for “${command}”. Request that command separately`;
  return { ok: false, problems: [{ field: 'for', problem }] };
}
