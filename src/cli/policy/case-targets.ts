import type { Command } from '../../commands/define.ts';
import { commands } from '../../commands/registry.ts';
import type { Target } from '../../domain/change.ts';
import { freezeTarget, type Scope } from '../../domain/freezes.ts';
import { findByName, type Service, serviceTarget } from '../../domain/targets.ts';
import type { CaseScope, CaseTargetKind, PolicyCase } from '../../policy/cases/case-schema.ts';
import { changesFreezes, takesService, untaggedTarget } from '../../workflow/old/who-targets.ts';

export const commandsByName: ReadonlyMap<string, Command> = new Map(
  commands.map((command) => [command.name, command]),
);

/** Returns how the target of a command is named. */
export function targetKindOf(name: string): CaseTargetKind {
  const command = commandsByName.get(name);
  if (!command) return 'none';
  if (command.kind === 'change' && changesFreezes(command)) return 'scope';
  return takesService(command) ? 'service' : 'none';
}

/** The services of a configuration file. */
export interface FileServices {
  readonly services: readonly Service[];
  /** Whether the server decides about the services that the file omits. */
  readonly discoversServices: boolean;
}

/**
 * Returns the targets of a case: for a tag or a warehouse, every service of the file that has both
 * of them. Null: a query about everything.
 */
export function caseTargets(
  { command, scope }: Pick<PolicyCase, 'command' | 'scope'>,
  file: FileServices,
): readonly (Target | null)[] {
  const kind = targetKindOf(command);
  if (kind === 'none') {
    return [commandsByName.get(command)?.kind === 'change' ? untaggedTarget(command) : null];
  }
  const { services } = file;
  if (kind === 'scope') return [freezeTarget(freezeScope(scope, file), services)];
  const { service, tag, warehouse } = scope;
  if (service !== null) return [serviceNamed(service, file)];
  return services
    .filter(({ tags }) => tag === null || tags?.includes(tag))
    .filter((each) => warehouse === null || each.warehouse === warehouse)
    .map(serviceTarget);
}

/** Returns the target with a name or id. For a service that the file does not list, tags are unknown. */
function serviceNamed(text: string, { services, discoversServices }: FileServices): Target {
  const [found, ...others] = findByName(services, text);
  if (found && others.length === 0) return serviceTarget(found);
  const unlisted: Target = { kind: 'service', id: text, name: text, tags: null, warehouse: null };
  return discoversServices ? { ...unlisted, discovered: true } : unlisted;
}

function freezeScope({ service, tag, warehouse }: CaseScope, file: FileServices): Scope {
  if (service !== null) {
    const { id, name } = serviceNamed(service, file);
    return { service: { id, name } };
  }
  if (tag !== null) return { tag };
  return warehouse === null ? { everything: true } : { warehouse };
}
