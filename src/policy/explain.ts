import type { RoleName, Target, UserId } from '../changes/change.ts';
import type { Actor } from '../changes/outcome.ts';
import { reachable, selects } from './matching.ts';
import type { Policy, Rule } from './policy-types.ts';

export interface RoleMembers {
  readonly role: RoleName;
  readonly groups: readonly string[];
  readonly users: readonly UserId[];
}

/** One way in which a command may be asked for. */
export interface RequestPath {
  readonly rule: Rule;
  readonly requesters: RoleMembers;
  readonly approvers: (RoleMembers & { readonly count: number; readonly self: boolean }) | null;
  readonly breakGlass: RoleMembers | null;
}

/**
 * Who may ask for a command: the one way that holds for a target, or, where no target is named,
 * each way that holds for some. None where no rule admits it.
 */
export function whoMayRequest(
  policy: Policy,
  command: string,
  target: Target | null,
): readonly RequestPath[] {
  const rules = reachable(policy, command);
  if (target === null) return rules.map((rule) => wayOf(policy, rule));

  const deciding = rules.find(({ on }) => selects(on, target) === true);
  return deciding ? [wayOf(policy, deciding)] : [];
}

/** The commands that an actor may ask for on at least some target. */
export function commandsFor(
  policy: Policy,
  commands: readonly string[],
  actor: Actor,
): readonly string[] {
  return commands.filter((command) =>
    reachable(policy, command).some(({ to }) => actor.roles.includes(to)),
  );
}

function wayOf(policy: Policy, rule: Rule): RequestPath {
  const { to, approvals, breakGlass } = rule;
  return {
    rule,
    requesters: peopleOf(policy, to),
    approvers: approvals && { ...peopleOf(policy, approvals.from), ...verdictsOf(approvals) },
    breakGlass: breakGlass && peopleOf(policy, breakGlass.to),
  };
}

function verdictsOf({ count, self }: NonNullable<Rule['approvals']>) {
  return { count, self };
}

function peopleOf(policy: Policy, role: RoleName): RoleMembers {
  const { groups, users } = policy.roles.get(role) ?? { groups: [], users: [] };
  return { role, groups, users };
}
