import type { Change, UserId } from '../changes/change.ts';
import type { Actor } from '../changes/outcome.ts';
import type { Refusal } from '../changes/refusal.ts';
import type { RoleName } from '../changes/requirement.ts';
import type { Press } from '../changes/verbs.ts';
import type { Freeze, NeverRule } from '../policy/policy-types.ts';

export interface SomeMembers {
  readonly users: readonly UserId[];
  /** Whether there may be others. */
  readonly more: boolean;
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

/** The group lookups behind an identity, recorded with each decision. */
export interface IdentityEvidence {
  readonly groups: readonly {
    readonly id: string;
    readonly size: number;
    readonly readAt: string;
  }[];
}

export type Identity =
  | { readonly ok: true; readonly actor: Actor; readonly evidence: IdentityEvidence }
  | { readonly ok: false; readonly refusal: Refusal };

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
