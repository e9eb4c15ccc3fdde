import type { Target } from '../changes/change.ts';
import type { Policy, Rule, Selector } from './policy-types.ts';

/** `service *` covers every command that begins with the noun; anything else only itself. */
export function covers(pattern: string, command: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith(' *') ? command.startsWith(pattern.slice(0, -1)) : pattern === command;
}

export function allows(rule: Rule, command: string): boolean {
  return rule.commands.some((pattern) => covers(pattern, command));
}

/** Whether a selector is about a target; null where too little is known of the target to say. */
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

// A service that the file does not list is in some warehouse, and nobody has said in which.
function isInOneOf(warehouses: readonly string[], target: Target): boolean | null {
  if (target.warehouse !== null) return warehouses.includes(target.warehouse);
  return target.tags === null || freezesMany(target) ? null : false;
}

// By id, never by name: somebody outside can give another service a name of the file, and with it
// would come the rules that were meant for the first.
function isOneOf(services: NonNullable<Selector['services']>, target: Target): boolean | null {
  if (freezesMany(target)) return null;
  const own = frozenService(target) ?? (target.kind === 'service' ? target.id : null);
  return own !== null && services.some(({ id }) => sameId(id, own));
}

/** A freeze of more than one service may be about those of a rule, or about others. */
function freezesMany(target: Target): boolean {
  return target.kind === 'freeze' && frozenService(target) === null;
}

function frozenService({ kind, id }: Target): string | null {
  return kind === 'freeze' && id.startsWith('service:') ? id.slice('service:'.length) : null;
}

function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/**
 * The rules that could decide about a command, in their order: up to the first that is about
 * every target, for nothing reaches those behind it.
 */
export function reachable(policy: Policy, command: string): readonly Rule[] {
  const rules = policy.rules.filter((rule) => allows(rule, command));
  const last = rules.findIndex(({ on }) => on === null);
  return last < 0 ? rules : rules.slice(0, last + 1);
}
