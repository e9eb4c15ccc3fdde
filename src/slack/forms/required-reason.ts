import type { FieldProblem } from '../../base/errors.ts';
import { fieldsOf, type TypedValues } from '../../commands/arguments.ts';
import { resolveNames } from '../../commands/assign.ts';
import type { ChangeCommand, Command, Intent, Vocabulary } from '../../commands/define.ts';
import type { Target } from '../../domain/change.ts';
import { reasonFor } from '../../domain/policy.ts';
import type { SlackContext } from '../slack-context.ts';

/** Whether the form requires a reason for the target that it names so far. */
export function needsReason(
  { context }: SlackContext,
  command: Command,
  given: TypedValues,
  vocabulary: Vocabulary,
): boolean {
  if (command.kind !== 'change') return false;
  if (command.needsReason) return true;
  const named = namedIn(command, given, vocabulary);
  const target = named && command.target(named, context.commandContext());
  return reasonFor(context.policy, command.name, target).required;
}

/** The items that the fields of an incomplete form name; null if one is missing or unknown. */
function namedIn(command: ChangeCommand, given: TypedValues, vocabulary: Vocabulary) {
  const naming = fieldsOf(command.args).filter(({ names }) => names !== undefined);
  if (naming.length === 0 || naming.some(({ name }) => !given[name])) return null;
  const resolved = resolveNames({ command, given, reason: '' }, naming, given, vocabulary);
  return resolved.ok ? resolved.args : null;
}

/** The problem of a reason that is missing or too short for the rule that decides. */
export function reasonProblem(
  { context }: SlackContext,
  { command, args, reason }: Pick<Intent, 'command' | 'args' | 'reason'>,
): FieldProblem | null {
  if (command.kind !== 'change') return null;
  const target: Target = command.target(args, context.commandContext());
  const rule = reasonFor(context.policy, command.name, target);
  const isNeeded = rule.required || command.needsReason === true;
  if (!isNeeded || (reason ?? '').length >= Math.max(1, rule.minimum)) return null;
  const minimum = rule.minimum > 1 ? ` of at least ${rule.minimum} characters` : '';
  return { field: 'reason', problem: `Add a reason${minimum} for the approvers.` };
}
