import { type ChangeCommand, fieldsOf, type WhoQuestion } from '../../commands/index.ts';
import type { InlinePart } from '../../domain/answer.ts';
import { TARGET_TRAITS, type Target } from '../../domain/change.ts';
import { EVERYTHING, freezeTarget, servicesIn } from '../../domain/freezes.ts';
import { type PolicyFacts, serviceTarget } from '../../domain/targets.ts';
import type { WhoContext } from './who-decision.ts';

/** Returns the targets of a question; null where it names none, so that any rule may decide. */
export function targetsOf(
  context: WhoContext,
  { command, scope }: WhoQuestion,
): readonly Target[] | null {
  const change = context.commands.get(command);
  const services = context.services();
  if (changesFreezes(change)) return scope && [freezeTarget(scope, services)];
  if (change && !takesService(change)) return [untaggedTarget(command)];
  if (!scope || 'everything' in scope) return null;
  return servicesIn(scope, services).map(serviceTarget);
}

export function changesFreezes(change: ChangeCommand | undefined): boolean {
  return change?.call === 'PUT freeze';
}

export function takesService({ args }: Pick<ChangeCommand, 'args'>): boolean {
  return fieldsOf(args).some(({ names }) => names === 'service');
}

/** An alert or a new service. Neither has tags or a warehouse. */
export function untaggedTarget(command: string): Target {
  const kind = command.startsWith('alert') ? 'alert' : 'new service';
  return { kind, id: EVERYTHING.id, name: command, tags: [], warehouse: null };
}

const NAMED_MAX = 8;

/** Lists the tags and warehouses of the targets, by which rules select them. */
export function tagLines(targets: readonly Target[]): readonly (readonly InlinePart[])[] {
  const shown = targets.filter(({ kind }) => TARGET_TRAITS[kind].listedIn === 'services');
  const rest = shown.length - NAMED_MAX;
  return [
    ...shown.slice(0, NAMED_MAX).map((target) => [{ bold: target.name }, tagText(target)]),
    ...(rest > 0 ? [[`and ${rest} more`]] : []),
  ];
}

function tagText({ tags, warehouse, discovered }: PolicyFacts): string {
  if (discovered) return discoveredText(tags, warehouse);
  if (tags === null) return ' is not listed in signalbox.yaml, and so has no tags';
  const tagged = tags.length > 0 ? `tagged ${tags.join(', ')}` : 'without a tag';
  return ` is ${tagged}${warehouse ? `, in warehouse ${warehouse}` : ''}`;
}

function discoveredText(tags: PolicyFacts['tags'], warehouse: string | null): string {
  if (tags === null)
    return ' is not listed in signalbox.yaml, and its tags on the server are unknown';
  const tagged = tags.length > 0 ? `tagged ${tags.join(', ')}` : 'without a tag of the policy';
  const place = warehouse === null ? ', in an unknown warehouse' : `, in warehouse ${warehouse}`;
  return ` is not listed in signalbox.yaml. On the server it is ${tagged}${place}`;
}
