import type { FieldProblem } from '../../base/errors.ts';
import type { JsonObject } from '../../base/text.ts';
import { type ChangeCommand, type CommandContext, fieldsOf } from '../../commands/index.ts';
import type { Plan, PlanRow, Snapshot } from '../../domain/change.ts';

type PlanResult =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** What was entered for a change. */
interface PlannedArguments {
  readonly args: unknown;
  readonly given: JsonObject;
  /** Values that the target has by then, although a server may still return older ones. */
  readonly settled?: JsonObject;
}

/** Plans a change from its arguments and the current state of the target. Sends nothing. */
export async function planChange(
  command: ChangeCommand,
  { args, given, settled = {} }: PlannedArguments,
  context: CommandContext,
): Promise<PlanResult> {
  const { before: seen = null, gaps = [] } = (await command.observe?.(args, context)) ?? {};
  const before = seen?.wasRead ? { ...seen, fields: { ...seen.fields, ...settled } } : seen;
  const problems = command.problems?.(args, before, context) ?? [];
  if (problems.length > 0) return { ok: false, problems };

  const body = command.desired(args, before);
  const plan: Plan = {
    target: command.target(args, context),
    args: given,
    sends: command.call,
    body,
    before,
    rows: command.rows?.(args, before, context) ?? rowsOf(command, body, before),
    unchangedFields: command.unchanged?.(args, before) ?? [],
    warnings: command.warnings(args, before, context),
    ...(gaps.length > 0 && { gaps }),
  };
  return { ok: true, plan };
}

/** One row for each field of the body that users can set and that changes. */
function rowsOf(command: ChangeCommand, body: JsonObject, before: Snapshot | null): PlanRow[] {
  return fieldsOf(command.args).flatMap(({ name, label }) => {
    const after = body[name];
    const previous = before?.fields[name] ?? null;
    if (after === undefined || JSON.stringify(after) === JSON.stringify(previous)) return [];
    return [{ field: name, label, before: previous, after }];
  });
}
