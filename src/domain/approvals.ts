// Whose decisions count: the roles that may decide or resolve a change, the approvals that meet its
// requirement, and how two requirements compare.

import { type Change, isPerson, type Requirement, type RoleName, type UserId } from './change.ts';

/** Returns the roles that may decide now: the escalation role joins after its wait. */
export function decidingRoles(
  { requires, confirmedAt }: Pick<Change, 'requires' | 'confirmedAt'>,
  now: Date,
): readonly RoleName[] {
  const { from, escalation } = requires;
  if (from === null) return [];
  const waited = confirmedAt ? now.getTime() - confirmedAt.getTime() : 0;
  return escalation && waited >= escalation.afterMs ? [from, escalation.to] : [from];
}

/** Returns the roles that may resolve an unknown outcome, those of the current rule last. */
export function resolvingRoles(
  { requires }: Pick<Change, 'requires'>,
  current: Requirement | null,
): readonly RoleName[] {
  const roles = [requires, current].flatMap((each) => (each ? [each.from ?? each.to] : []));
  return [...new Set(roles)];
}

/** The roles that a requirement names. */
export function rolesIn(requires: Requirement | null): readonly RoleName[] {
  if (requires === null) return [];
  const { to, from, escalation, breakGlass } = requires;
  return [to, from, escalation?.to, breakGlass].filter((role) => typeof role === 'string');
}

/**
 * Returns which approvals count under a requirement, and the approvers whose current roles are `unknown`. `rolesOf` returns the current roles of a user:
 * null if unknown, which counts as no approval; an empty list for a deactivated user.
 */
export function approvalStatus(
  requires: Requirement,
  change: Pick<Change, 'approvals' | 'requester' | 'confirmedAt'>,
  rolesOf: (user: UserId) => readonly RoleName[] | null,
) {
  const { from, count, self } = requires;
  if (from === null) return { met: count === 0, counted: [], missing: count, unknown: [] };

  const people = [...new Map(change.approvals.map((approval) => [approval.by, approval])).values()]
    .filter(({ by }) => isPerson(by) && (self || by !== change.requester))
    .map(({ by, at }) => ({ user: by, at, roles: rolesOf(by) }));
  const deciding = (at: Date) => decidingRoles({ requires, confirmedAt: change.confirmedAt }, at);
  const counted = people
    .filter(({ roles, at }) => deciding(at).some((role) => roles?.includes(role)))
    .map(({ user }) => user);
  const unknown = people.filter(({ roles }) => roles === null).map(({ user }) => user);
  const missing = Math.max(0, count - counted.length);
  return { met: missing === 0, counted, missing, unknown };
}

/**
 * Returns the requirement for a change together with its revert, so that one approval covers both.
 * Returns null if they need different approvers.
 */
export function combineRequirements(change: Requirement, revert: Requirement): Requirement | null {
  const breakGlass = change.breakGlass === revert.breakGlass ? change.breakGlass : null;
  if (revert.from === null) return { ...change, breakGlass };
  if (change.from === null) {
    const { from, count, self, escalation } = revert;
    return { ...change, from, count, self, escalation, breakGlass };
  }
  if (change.from !== revert.from) return null;
  return {
    ...change,
    count: Math.max(change.count, revert.count),
    self: change.self && revert.self,
    escalation: sameEscalation(change, revert) ? change.escalation : null,
    breakGlass,
  };
}

function sameEscalation({ escalation: one }: Requirement, { escalation: other }: Requirement) {
  return one?.to === other?.to && one?.afterMs === other?.afterMs;
}

/** Whether a change that meets the first requirement also meets the second one. */
export function coversRequirement(first: Requirement, second: Requirement): boolean {
  if (second.from === null) return true;
  return (
    first.from === second.from &&
    first.count >= second.count &&
    (second.self || !first.self) &&
    (first.escalation === null || sameEscalation(first, second))
  );
}
