// Whether the approvals of a change meet its requirement, what a refusal says, and who the user is.

import type { Actor, Change, Press, Refusal, Requirement, RoleName, UserId } from './change.ts';
import { decidingRoles } from './decide.ts';
import type { Freeze, NeverRule } from './policy.ts';

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

/** A refusal with what its sentence needs: rule, role, and the users who could act instead. */
export interface Denial {
  readonly refusal: Refusal;
  readonly command: string | null;
  readonly target: string | null;
  readonly rule: number | null;
  readonly role: RoleName | null;
  /** Users who could act instead; null where it is unknown. */
  readonly who: SomeMembers | null;
  readonly freeze: Freeze | null;
  readonly never: NeverRule | null;
  readonly change: Change | null;
  /** The refused decision about `change` and who made it; null for any other refusal. */
  readonly press: Press | null;
}

/** Builds a denial. Command, target and rule default to those of the change. */
export function createDenial(refusal: Refusal, about: Partial<Denial> = {}): Denial {
  return {
    refusal,
    command: about.change?.command ?? null,
    target: about.change?.plan.target.name ?? null,
    rule: about.change?.requires.rule ?? null,
    role: null,
    who: null,
    freeze: null,
    never: null,
    change: null,
    press: null,
    ...about,
  };
}

/** Who a user is now, or why Signalbox does not accept the user. */
export type Identity =
  | { readonly ok: true; readonly actor: Actor; readonly evidence: IdentityEvidence }
  | { readonly ok: false; readonly refusal: Refusal };

/** The group lookups behind an identity, recorded with each decision. */
export interface IdentityEvidence {
  readonly groups: readonly {
    readonly id: string;
    readonly size: number;
    readonly readAt: string;
  }[];
}

/** Identifies users and looks up facts about them. Slack implements it. */
export interface People {
  /**
   * Identifies a user and the user's roles. `fresh` skips all caches.
   * A lookup that Slack does not answer is the refusal `lookup-failed`, never "not a member".
   */
  identify(user: UserId, how: { readonly fresh: boolean }): Promise<Identity>;
  /**
   * Returns up to six active members of a role, for a text that names them. It has a request budget
   * of its own and takes at most a second. Null where Slack gave no answer in this time.
   */
  someMembers(role: RoleName): Promise<SomeMembers | null>;
  /** Returns the user's IANA time zone, or null where the lookup failed. */
  zoneOf(user: UserId): Promise<string | null>;
}

/** Members of a role, for a text that names them. */
export interface SomeMembers {
  readonly users: readonly UserId[];
  /** Whether there may be others. */
  readonly more: boolean;
}
