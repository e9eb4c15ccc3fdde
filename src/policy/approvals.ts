import type { Change, UserId } from '../changes/change.ts';
import { decidingRoles } from '../changes/lifecycle.ts';
import type { Requirement, RoleName } from '../changes/requirement.ts';

interface ApprovalStatus {
  readonly met: boolean;
  readonly counted: readonly UserId[];
  readonly missing: number;
  /** Approvers whose current roles are unknown. */
  readonly unknown: readonly UserId[];
}

/**
 * Returns which approvals count under a requirement. `rolesOf` returns the current roles of a user:
 * null if unknown, which counts as no approval; an empty list for a deactivated user.
 */
export function approvalStatus(
  requires: Requirement,
  change: Pick<Change, 'approvals' | 'requester' | 'confirmedAt'>,
  rolesOf: (user: UserId) => readonly RoleName[] | null,
): ApprovalStatus {
  const { from, count, self } = requires;
  if (from === null) return { met: count === 0, counted: [], missing: count, unknown: [] };

  const people = [...new Map(change.approvals.map((approval) => [approval.by, approval])).values()]
    .filter(({ by }) => self || by !== change.requester)
    .map(({ by, at }) => ({ user: by, at, roles: rolesOf(by) }));
  const deciding = (at: Date) => decidingRoles({ requires, confirmedAt: change.confirmedAt }, at);
  const counted = people
    .filter(({ roles, at }) => deciding(at).some((role) => roles?.includes(role)))
    .map(({ user }) => user);
  const unknown = people.filter(({ roles }) => roles === null).map(({ user }) => user);
  const missing = Math.max(0, count - counted.length);
  return { met: missing === 0, counted, missing, unknown };
}
