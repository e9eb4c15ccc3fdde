import type { Json, JsonObject, Plan, PlanRow, Snapshot } from '../../changes/change.ts';
import type { FieldProblem } from '../../errors.ts';
import { fieldsOf } from '../../intent/arguments/arguments.ts';
import type { ChangeCommand } from '../../intent/define.ts';
import type { CommandContext } from '../../intent/ports/command-context.ts';

export type Planned =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** What a change would do, from its arguments and the target as it is seen now. Sends nothing. */
export async function planOf(
  command: ChangeCommand,
  args: unknown,
  given: JsonObject,
  context: CommandContext,
): Promise<Planned> {
  const before = await command.observe(args, context);
  const problems = command.problems?.(args, before, context) ?? [];
  if (problems.length > 0) return { ok: false, problems };

  const body = command.desired(args, before);
  const plan: Plan = {
    target: command.target(args, context),
    args: given,
    sends: command.call,
    body,
    before,
    rows: command.rows?.(args, before) ?? rowsOf(command, body, before),
    unchangedFields: command.unchanged?.(args, before) ?? [],
    warnings: command.warnings(args, before, context),
  };
  return { ok: true, plan };
}

/** Every field of the body that a person could set, and that is not as it was already. */
function rowsOf(command: ChangeCommand, body: JsonObject, before: Snapshot | null): PlanRow[] {
  return fieldsOf(command.args).flatMap(({ name, label }) => {
    const after = body[name];
    const was = before?.fields[name] ?? null;
    if (after === undefined || JSON.stringify(after) === JSON.stringify(was)) return [];
    return [{ field: name, label, before: was, after }];
  });
}

/** A value as people read it in a row: switches as on and off, lists with commas. */
export function valueText(value: Json): string {
  if (value === null) return 'not known';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(itemText).join(', ');
  return typeof value === 'object' ? itemText(value) : String(value);
}

function itemText(item: Json): string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return String(item);
  return Object.values(item).map(valueText).join(' ');
}
