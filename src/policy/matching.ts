import type { Target, TargetKind } from '../changes/change.ts';
import type { Actor } from '../changes/outcome.ts';
import type { Policy, Rule, Selector } from './policy-types.ts';

/** `service *` matches every command of the noun, `*` every command; else only itself. */
export function covers(pattern: string, command: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith(' *') ? command.startsWith(pattern.slice(0, -1)) : pattern === command;
}

export function allows(rule: Rule, command: string): boolean {
  return rule.commands.some((pattern) => covers(pattern, command));
}

/** Whether a selector matches a target; null if too little is known about the target. */
export function selects(selector: Selector | null, target: Target | null): boolean | null {
  if (selector === null) return true;
  if (target === null) return null;
  const { services, tags, warehouses } = selector;
  const holds = [
    services === null || isOneOf(services, target),
    tags === null || hasOneOf(tags, target),
    warehouses === null || isInOneOf(warehouses, target),
  ];
  if (holds.includes(false)) return false;
  return holds.includes(null) ? null : true;
}

function hasOneOf(tags: readonly string[], target: Target): boolean | null {
  return target.tags === null ? null : tags.some((tag) => target.tags?.includes(tag));
}

// A service that the configuration does not list is in some warehouse, but it is unknown in which.
function isInOneOf(warehouses: readonly string[], target: Target): boolean | null {
  if (target.warehouse !== null) return warehouses.includes(target.warehouse);
  const isUnknown = target.tags === null || target.discovered === true;
  return isUnknown || servicesOf(target) === 'unknown' ? null : false;
}

// Compared by id, never by name: a person outside can give another service a configured name, and
// the rules of the configured service would then apply to it.
function isOneOf(services: NonNullable<Selector['services']>, target: Target): boolean | null {
  const own = servicesOf(target);
  if (own === 'unknown') return null;
  return own !== 'none' && services.some(({ id }) => sameId(id, own.id));
}

type TargetServices = { readonly id: string } | 'none' | 'unknown';

const SERVICES_OF: Readonly<Record<TargetKind, (id: string) => TargetServices>> = {
  service: (id) => ({ id }),
  schedule: (id) => ({ id }),
  alert: () => 'none',
  'new service': () => 'none',
  // The freeze of several services may cover the services of a rule, or others.
  freeze: (id) => (id.startsWith('service:') ? { id: id.slice('service:'.length) } : 'unknown'),
};

function servicesOf({ kind, id }: Target): TargetServices {
  return SERVICES_OF[kind](id);
}

function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/**
 * Returns the rules that can decide a command, in order: up to the first one without a selector,
 * because no later rule is reached.
 */
export function reachable(policy: Policy, command: string): readonly Rule[] {
  const rules = policy.rules.filter((rule) => allows(rule, command));
  const last = rules.findIndex(({ on }) => on === null);
  return last < 0 ? rules : rules.slice(0, last + 1);
}

/** Returns the commands that an actor may request on at least one target. */
export function commandsFor(
  policy: Policy,
  commands: readonly string[],
  actor: Actor,
): readonly string[] {
  return commands.filter((command) =>
    reachable(policy, command).some(({ to }) => actor.roles.includes(to)),
  );
}

/** Returns those that an actor may request on at least one service that only the server lists. */
export function commandsOnDiscovered(
  policy: Policy,
  commands: readonly string[],
  actor: Actor,
): readonly string[] {
  return commands.filter((command) =>
    reachable(policy, command).some(({ to, discovered }) => discovered && actor.roles.includes(to)),
  );
}
