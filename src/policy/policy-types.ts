import type { ChangeId, UserId } from '../changes/change.ts';
import type { RoleName } from '../changes/requirement.ts';

export interface Role {
  /** User groups, by handle (`@db-leads`) or by id (`S…`). */
  readonly groups: readonly string[];
  readonly users: readonly UserId[];
}

/** A selection of targets: every key that is set must match, by any entry of its list. */
export interface Selector {
  readonly services: readonly { readonly name: string; readonly id: string }[] | null;
  readonly tags: readonly string[] | null;
  readonly warehouses: readonly string[] | null;
}

/** A selection of costs, which may also name teams. */
export interface CostSelector extends Selector {
  readonly teams: readonly string[] | null;
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
    /** The role that may also decide after this wait, in milliseconds. */
    readonly escalate: { readonly to: RoleName; readonly after: number } | null;
  } | null;
  readonly reason: { readonly required: boolean; readonly minimum: number };
  readonly expiresAfterMs: number;
  readonly channel: string | null;
  readonly breakGlass: { readonly to: RoleName } | null;
  /** Whether it allows changes of services that only the server lists. */
  readonly discovered: boolean;
}

export interface Freeze {
  readonly from: Date;
  readonly until: Date;
  readonly on: Selector | null;
  readonly reason: string;
  readonly by: string | null;
  /** The change that created the freeze; missing for one of the file, which Slack cannot lift. */
  readonly made?: { readonly id: ChangeId; readonly by: UserId };
}

/** Commands that no rule and no break-glass allows. */
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
}

/** The names that a policy may use: commands, and what its file declares elsewhere. */
export interface PolicyVocabulary extends CommandNames {
  readonly roles: readonly string[];
  /** The id of each service, by its name. */
  readonly services: ReadonlyMap<string, string>;
  readonly tags: readonly string[];
  /** Tags of the server that rules may name; only discovered services have them. */
  readonly serverTags?: readonly string[];
  readonly warehouses: readonly string[];
}
