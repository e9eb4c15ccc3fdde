import type { Plan, Requirement, Timing } from '../../changes/change.ts';
import type { FieldProblem } from '../../errors.ts';
import { NO_TIMING } from '../../intent/arguments/timing.ts';
import type { ChangeCommand } from '../../intent/define.ts';
import { combineRequirements } from '../../policy/combine-requirements.ts';
import type { Decision } from '../../policy/decide.ts';
import type { WorkflowContext } from '../ports.ts';
import { readInverse } from '../revert/inverse.ts';
import type { ChangeRequest } from './change-request.ts';
import { startTimeOf } from './start-time.ts';

export type TimedPlan =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** The same plan with its hours: when it begins, and what takes it back. */
export async function timePlan(
  context: WorkflowContext,
  request: ChangeRequest,
  plan: Plan,
): Promise<TimedPlan> {
  const { timing = NO_TIMING, command, requester } = request;
  const asksClock = timing.at !== null && timing.at.offset === null;
  const zone = asksClock ? await context.people.zoneOf(requester) : null;
  const start = startTimeOf(timing, { zone, now: context.now() });
  if (!start.ok) return start;

  const back = timing.forMs === null ? null : backOf(context, command, plan, timing.forMs);
  if (back && !back.ok) return back;
  if (start.at === null && back === null) return { ok: true, plan };
  const hours: Timing = { startAt: start.at?.toISOString() ?? null, revert: back?.back ?? null };
  const warnings = [...start.warnings, ...plan.warnings];
  return { ok: true, plan: { ...plan, warnings, timing: hours } };
}

const NO_WAY_BACK =
  'does not work here: what it was before is not known, so nothing could take it back';

type Back =
  | { readonly ok: true; readonly back: NonNullable<Timing['revert']> }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

// Only what can be read again as a command can be run by itself later.
function backOf(
  context: WorkflowContext,
  command: ChangeCommand,
  plan: Plan,
  afterMs: number,
): Back {
  const undo = command.undo(plan.target, plan.before, plan.body);
  const inverse = undo && readInverse(context, undo.line, plan.target);
  if (!inverse) return { ok: false, problems: [{ field: 'for', problem: NO_WAY_BACK }] };
  return { ok: true, back: { ...undo, afterMs } };
}

/** When a change is expected to run, so that the freezes of that hour decide, and not of this one. */
export function startsAt({ timing }: Plan, now: Date): Date {
  return timing?.startAt ? new Date(timing.startAt) : now;
}

export type WayBack =
  | { readonly ok: true; readonly requires: Requirement }
  | { readonly ok: false; readonly command: string; readonly decision: Decision }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

type Decide = (command: string, at: Date) => Decision;

/** Approved as one: what takes it back has to be allowed to the same person, at its own hour. */
export function wayBack(
  context: WorkflowContext,
  plan: Plan,
  requires: Requirement,
  decideOn: Decide,
): WayBack {
  const back = plan.timing?.revert;
  if (!back) return { ok: true, requires };
  const command = readInverse(context, back.line, plan.target)?.command.name ?? '';
  const at = new Date(startsAt(plan, context.now()).getTime() + back.afterMs);
  const decision = decideOn(command, at);
  if (!decision.allow) return { ok: false, command, decision };
  const both = combineRequirements(requires, decision.requires);
  if (both) return { ok: true, requires: both };
  const problem = `does not work here: rule ${decision.requires.rule} asks other people to approve “${command}”, so ask for that by itself`;
  return { ok: false, problems: [{ field: 'for', problem }] };
}
