import { type ChangeCommand, type Intent, parseLine } from '../../commands/index.ts';
import { type Change, TARGET_TRAITS, type Target, targetKey } from '../../domain/change.ts';
import type { Service } from '../../domain/targets.ts';
import { hasTargetChangedSinceEnd } from '../../log/old/permits.ts';
import { knownServices } from '../../servers/facts.ts';
import type { WorkflowContext } from './ports.ts';

/** The command that reverts a change, with its arguments. */
export interface Inverse extends Intent {
  readonly command: ChangeCommand;
}

/** Parses the command line of an undo; null where it is not a complete change command. */
export function readInverse(
  context: WorkflowContext,
  line: string,
  target: Target,
  services: readonly Service[] = context.commandContext().services,
): Inverse | null {
  const [noun = '', ...words] = line.split(' ');
  const { organization } = context.commandContext();
  // The alert's name is known from the target, so that the list of alerts need not be read.
  const isAlert = TARGET_TRAITS[target.kind].listedIn === 'alerts';
  const alerts = isAlert ? [{ ...target, aliases: [] }] : [];
  const commands = [...context.commands.values()];
  const understood = parseLine(noun, words.join(' '), {
    commands,
    services,
    alerts,
    organization,
  });
  if (understood.kind !== 'intent' || understood.command.kind !== 'change') return null;
  return { ...understood, command: understood.command };
}

/** Returns the services, with the state of the target from the last reply. */
export async function servicesWithLatestReply(
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

/**
 * Whether a target is unchanged since a change: no other change ran on it, and where the API has a
 * read, it has the values that were sent. Throws where that read fails.
 */
export async function isUnchangedSince(context: WorkflowContext, change: Change): Promise<boolean> {
  const { target, body } = change.plan;
  if (await hasTargetChangedSinceEnd(context.database.db, targetKey(target), change)) return false;
  const verify = context.commands.get(change.command)?.verifyOutcome;
  return verify ? (await verify(target, body, context.commandContext(), change)) !== null : true;
}
