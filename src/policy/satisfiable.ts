import type { RoleName, UserId } from '../changes/change.ts';
import type { Policy, Rule } from './policy-types.ts';
import type { ConfigProblem } from './problem.ts';

type Members = ReadonlyMap<RoleName, ReadonlySet<UserId>>;

const NOBODY: ReadonlySet<UserId> = new Set();

/**
 * What no person can ever satisfy. `members` holds those who count today: active people of this
 * workspace. A role that is absent from it has nobody.
 */
export function impossibleRequirements(policy: Policy, members: Members): readonly ConfigProblem[] {
  return policy.rules.flatMap((rule) => [
    ...emptyRoles(rule, members),
    ...(approvalProblem(rule, members) ?? []),
  ]);
}

/**
 * How many members of a role settle the question above: with one more than any rule asks to approve,
 * there is somebody else for every requester, however many there are in all.
 */
export function membersNeeded(policy: Policy): number {
  return 1 + Math.max(1, ...policy.rules.map(({ approvals }) => approvals?.count ?? 0));
}

function emptyRoles(rule: Rule, members: Members): readonly ConfigProblem[] {
  const named = [
    { key: 'to', role: rule.to, does: 'ask' },
    ...(rule.breakGlass
      ? [{ key: 'breakGlass.to', role: rule.breakGlass.to, does: 'break the glass' }]
      : []),
    ...(rule.approvals?.escalate
      ? [{ key: 'approvals.escalate.to', role: rule.approvals.escalate.to, does: 'decide later' }]
      : []),
  ];
  return named
    .filter(({ role }) => membersOf(role, members).size === 0)
    .map(({ key, role, does }) => ({
      where: whereOf(rule, key),
      problem: `rule ${rule.place} lets only ${role} ${does}, and ${role} has no members`,
      hint: `look at the groups and users of roles.${role}`,
    }));
}

function approvalProblem(rule: Rule, members: Members): readonly ConfigProblem[] | null {
  if (!rule.approvals) return null;
  const { from, count, self } = rule.approvals;
  const approvers = membersOf(from, members);
  const needs = `rule ${rule.place} needs ${approvals(count)} from`;
  const where = whereOf(rule, 'approvals');
  if (approvers.size < count) {
    const problem = `${needs} ${from}, which has ${people(approvers.size)}`;
    return [{ where, problem, hint: `add people to ${from}` }];
  }
  if (self || hasEnoughOthers(membersOf(rule.to, members), approvers, count)) return null;
  const whoever = `whoever of ${rule.to} asks, too few of ${from} are left`;
  const problem = `${needs} others than the requester, but ${whoever}`;
  return [{ where, problem, hint: `add somebody to ${from}, or to ${rule.to}` }];
}

// Nobody may be told "ask" who then waits for ever: at least one requester must have the approvers.
function hasEnoughOthers(
  requesters: ReadonlySet<UserId>,
  approvers: ReadonlySet<UserId>,
  count: number,
): boolean {
  if (requesters.size === 0) return true;
  return [...requesters].some(
    (requester) => approvers.size - (approvers.has(requester) ? 1 : 0) >= count,
  );
}

function membersOf(role: RoleName, members: Members): ReadonlySet<UserId> {
  return members.get(role) ?? NOBODY;
}

function whereOf(rule: Rule, key: string): string {
  return `policy[${rule.place - 1}].${key}`;
}

function approvals(count: number): string {
  return count === 1 ? '1 approval' : `${count} approvals`;
}

function people(count: number): string {
  if (count === 0) return 'no members';
  return count === 1 ? '1 member' : `${count} members`;
}
