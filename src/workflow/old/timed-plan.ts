import type { FieldProblem } from '../../base/errors.ts';
import type { ChangeCommand } from '../../commands/index.ts';
import { combineRequirements } from '../../domain/approvals.ts';
import type { Plan, Requirement, Timing, UserId } from '../../domain/change.ts';
import {
  NO_TIMING,
  type RequestedTiming,
  revertTimeOf,
  startsAt,
  startTimeOf,
} from '../../domain/timing.ts';
import type { authorizeCommand, Refused } from './authorize.ts';
import { readInverse } from './inverse.ts';
import type { WorkflowContext } from './ports.ts';

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
  const needsZone = [timing.at, timing.until].some((time) => time?.offset === null);
  const zone = needsZone ? await context.people.zoneOf(requester) : null;
  const clock = { zone, now: context.now() };
  const start = startTimeOf(timing, clock);
  if (!start.ok) return start;
  const end = revertTimeOf(timing, start.at, clock);
  if (!end.ok) return end;

  const { afterMs, until } = end;
  const found = afterMs === null ? null : revertOf(context, command, plan, { afterMs, until });
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
  { afterMs, until }: { readonly afterMs: number; readonly until: string | null },
): { readonly ok: true; readonly revert: NonNullable<Timing['revert']> } | Problems {
  const undo = command.undo(plan.target, plan.before, plan.body);
  const inverse = undo && readInverse(context, undo.line, plan.target);
  if (!inverse) {
    const why = command.noUndo?.(plan.before, plan.body) ?? NOT_KNOWN;
    const problem = `does not work here: ${why}, so that Signalbox cannot revert it`;
    return { ok: false, problems: [{ field: until === null ? 'for' : 'until', problem }] };
  }
  return { ok: true, revert: { ...undo, afterMs, ...(until !== null && { until }) } };
}

type Authorize = (command: string, at: Date) => ReturnType<typeof authorizeCommand>;

/** A command that a change runs later, and that is approved with it. */
interface LaterCommand {
  readonly name: string;
  readonly at: Date;
  /** The field that a problem names. */
  readonly field: string;
}

function laterCommands(
  context: WorkflowContext,
  { runs }: ChangeCommand,
  plan: Plan,
): readonly LaterCommand[] {
  const now = startsAt(plan, context.now());
  const planned = (runs?.(plan.body) ?? []).map((name) => ({ name, at: now, field: '' }));
  const revert = plan.timing?.revert;
  if (!revert) return planned;
  const name = readInverse(context, revert.line, plan.target)?.command.name ?? '';
  return [...planned, { name, at: new Date(now.getTime() + revert.afterMs), field: 'for' }];
}

interface AuthorizedPlan {
  readonly command: ChangeCommand;
  readonly plan: Plan;
  readonly requires: Requirement;
}

/**
 * Returns one requirement for a change and what it runs later, for example its revert: all of it is
 * approved together. The requester must be allowed to run each of these commands as well.
 */
export async function requirementWithLater(
  context: WorkflowContext,
  { command, plan, requires }: AuthorizedPlan,
  authorize: Authorize,
): Promise<{ readonly ok: true; readonly requires: Requirement } | Refused | Problems> {
  // What runs for months is no emergency.
  let all = command.runs ? { ...requires, breakGlass: null } : requires;
  for (const { name, at, field } of laterCommands(context, command, plan)) {
    const authorized = await authorize(name, at);
    if (!authorized.ok) return authorized;
    const { rule } = authorized.requires;
    const both = combineRequirements(all, authorized.requires);
    if (!both) return { ok: false, problems: [{ field, problem: otherApprovers(name, rule) }] };
    all = both;
  }
  return { ok: true, requires: all };
}

function otherApprovers(name: string, rule: number): string {
  return `does not work here: rule ${rule} has other approvers for “${name}”. Request that command separately`;
}
