import type { Change, UserId } from '../changes/change.ts';
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
