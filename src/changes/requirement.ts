export type RoleName = string;

/** What a rule of the policy requires before a change may run. */
export interface Requirement {
  /** The rule's place in the file, counted from 1. */
  readonly rule: number;
  readonly to: RoleName;
  /** The role whose approvals count; null if the rule needs no approval. */
  readonly from: RoleName | null;
  readonly count: number;
  readonly self: boolean;
  readonly reason: boolean;
  readonly expiresAfterMs: number;
  readonly channel: string | null;
  /** The role that may also decide after this wait; null if the rule has none. */
  readonly escalation: { readonly to: RoleName; readonly afterMs: number } | null;
  /** The role that may use break-glass; null if the rule has none. */
  readonly breakGlass: RoleName | null;
}
