import type { ConfigProblem } from '../base/problem.ts';
import type { UserId } from '../changes/change.ts';
import type { RoleName } from '../changes/requirement.ts';
import type { Policy, Rule } from './policy-types.ts';

type Members = ReadonlyMap<RoleName, ReadonlySet<UserId>>;

const NO_MEMBERS: ReadonlySet<UserId> = new Set();

/**
 * Returns the rules that nobody can satisfy. `members` has the active users of this workspace by
 * role; a role that is missing has no members.
 */
export function impossibleRequirements(policy: Policy, members: Members): readonly ConfigProblem[] {
  return policy.rules.flatMap((rule) => [
    ...emptyRoles(rule, members),
    ...(approvalProblem(rule, members) ?? []),
  ]);
}

/**
 * Returns how many members of each role `impossibleRequirements` needs to know: one more than the
 * highest count of approvals, so that every requester has enough others.
 */
export function membersNeeded(policy: Policy): number {
  return 1 + Math.max(1, ...policy.rules.map(({ approvals }) => approvals?.count ?? 0));
}

function emptyRoles(rule: Rule, members: Members): readonly ConfigProblem[] {
  const named = [
    { key: 'to', role: rule.to, does: 'request' },
    ...(rule.breakGlass
      ? [{ key: 'breakGlass.to', role: rule.breakGlass.to, does: 'use break-glass' }]
      : []),
    ...(rule.approvals?.escalate
      ? [
          {
            key: 'approvals.escalate.to',
            role: rule.approvals.escalate.to,
            does: 'decide after the escalation',
          },
        ]
      : []),
  ];
  return named
    .filter(({ role }) => membersOf(role, members).size === 0)
    .map(({ key, role, does }) => ({
      where: whereOf(rule, key),
      problem: `rule ${rule.place} lets only ${role} ${does}, but ${role} has no members`,
      hint: `check the groups and users of roles.${role}`,
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
  const tooFew = `without the requester, ${from} is too small for every member of ${rule.to}`;
  const problem = `${needs} people other than the requester, but ${tooFew}`;
  return [{ where, problem, hint: `add a person to ${from}, or to ${rule.to}` }];
}

// At least one requester must have enough other approvers, else no request can be approved.
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
  return members.get(role) ?? NO_MEMBERS;
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
