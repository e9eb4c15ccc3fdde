import type { RoleName, Target, UserId } from '../changes/change.ts';
import type { Actor } from '../changes/outcome.ts';
import { reachable, selects } from './matching.ts';
import type { Policy, Rule } from './policy-types.ts';

export interface RoleMembers {
  readonly role: RoleName;
  readonly groups: readonly string[];
  readonly users: readonly UserId[];
}

/** One rule under which a command can be requested, with the members of its roles. */
export interface RequestPath {
  readonly rule: Rule;
  readonly requesters: RoleMembers;
  readonly approvers: (RoleMembers & { readonly count: number; readonly self: boolean }) | null;
  readonly breakGlass: RoleMembers | null;
}

/**
 * Returns who may request a command: under the rule for the target, or, without a target, under
 * each rule that decides for some target. Empty if no rule allows the command.
 */
export function whoMayRequest(
  policy: Policy,
  command: string,
  target: Target | null,
): readonly RequestPath[] {
  const rules = reachable(policy, command);
  if (target === null) return rules.map((rule) => pathOf(policy, rule));

  const deciding = rules.find(({ on }) => selects(on, target) === true);
  return deciding ? [pathOf(policy, deciding)] : [];
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

function pathOf(policy: Policy, rule: Rule): RequestPath {
  const { to, approvals, breakGlass } = rule;
  return {
    rule,
    requesters: membersOf(policy, to),
    approvers: approvals && { ...membersOf(policy, approvals.from), ...quorumOf(approvals) },
    breakGlass: breakGlass && membersOf(policy, breakGlass.to),
  };
}

function quorumOf({ count, self }: NonNullable<Rule['approvals']>) {
  return { count, self };
}

function membersOf(policy: Policy, role: RoleName): RoleMembers {
  const { groups, users } = policy.roles.get(role) ?? { groups: [], users: [] };
  return { role, groups, users };
}
