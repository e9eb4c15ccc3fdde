import type { Target } from '../../changes/change.ts';
import type { Service } from '../../directory/directory.ts';
import type { ChangeCommand } from '../../intent/define.ts';
import { understand } from '../../intent/parse/understand.ts';
import type { Intent } from '../../intent/parse/understood.ts';
import { knownServices } from '../../storage/tables/directory.ts';
import type { WorkflowContext } from '../ports.ts';

export interface Inverse extends Intent {
  readonly command: ChangeCommand;
}

/** What the words of an undo mean, read like any that are typed; null where they mean nothing. */
export function readInverse(
  context: WorkflowContext,
  line: string,
  target: Target,
  services: readonly Service[] = context.commandContext().services,
): Inverse | null {
  const [noun = '', ...words] = line.split(' ');
  const { organization } = context.commandContext();
  // By its own name, which a list of all alerts would have to be read for.
  const alerts = target.kind === 'alert' ? [{ ...target, aliases: [] }] : [];
  const commands = [...context.commands.values()];
  const found = understand(noun, words.join(' '), { commands, services, alerts, organization });
  if (found.kind !== 'intent' || found.command.kind !== 'change') return null;
  return { ...found, command: found.command };
}

/** The services with what the last reply taught, even where the directory was not read since. */
export async function servicesNow(
  context: WorkflowContext,
  { id }: Target,
): Promise<readonly Service[]> {
  const { services } = context.commandContext();
  const learned = (await knownServices(context.database.db)).find((known) => known.id === id);
  if (!learned || Object.keys(learned.fields).length === 0) return services;
  const { fields, seenAt, source } = learned;
  return services.map((service) =>
    service.id === id ? { ...service, lastSeen: { fields, seenAt, source } } : service,
  );
}
