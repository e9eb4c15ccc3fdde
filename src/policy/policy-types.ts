import type { ChangeId, RoleName, UserId } from '../changes/change.ts';

export interface Role {
  /** User groups, by handle (`@db-leads`) or by id (`S…`). */
  readonly groups: readonly string[];
  readonly users: readonly UserId[];
}

/** Which targets something is about: all keys that are given hold, by any entry of their list. */
export interface Selector {
  readonly services: readonly { readonly name: string; readonly id: string }[] | null;
  readonly tags: readonly string[] | null;
  readonly warehouses: readonly string[] | null;
}

export interface Rule {
  /** The rule's place in the file, counted from 1. */
  readonly place: number;
  readonly commands: readonly string[];
  readonly on: Selector | null;
  readonly to: RoleName;
  readonly approvals: {
    readonly from: RoleName;
    readonly count: number;
    readonly self: boolean;
    /** Who may decide as well, once nobody has for so long. */
    readonly escalate: { readonly to: RoleName; readonly after: number } | null;
  } | null;
  readonly reason: { readonly required: boolean; readonly minimum: number };
  readonly expiresAfterMs: number;
  readonly channel: string | null;
  readonly breakGlass: { readonly to: RoleName } | null;
}

export interface Freeze {
  readonly from: Date;
  readonly until: Date;
  readonly on: Selector | null;
  readonly reason: string;
  readonly by: string | null;
  /** Missing for one that stands in the file: nobody can lift that in Slack. */
  readonly made?: { readonly id: ChangeId; readonly by: UserId };
}

/** What nobody may do, whatever the rules say; not even in an emergency. */
export interface NeverRule {
  readonly commands: readonly string[];
  readonly on: Selector | null;
  readonly reason: string;
}

export interface Policy {
  readonly roles: ReadonlyMap<RoleName, Role>;
  readonly rules: readonly Rule[];
  readonly freezes: readonly Freeze[];
  readonly never: readonly NeverRule[];
}

/** The names of all commands. */
export interface CommandNames {
  readonly queries: readonly string[];
  readonly changes: readonly string[];
  /** The current name of each earlier one, which policy files may still use. */
  readonly aliases?: ReadonlyMap<string, string>;
}

/** Every word that the policy may name: declared elsewhere in its file, or a command. */
export interface PolicyVocabulary extends CommandNames {
  readonly roles: readonly string[];
  /** The names of the services, with their ids. */
  readonly services: ReadonlyMap<string, string>;
  readonly tags: readonly string[];
  readonly warehouses: readonly string[];
}
