declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ChangeId = Branded<'ChangeId'>;
export type UserId = Branded<'UserId'>;
export type ChannelId = Branded<'ChannelId'>;
export type RoleName = string;

export const STATES = [
  'draft',
  'pending',
  'approved',
  'executing',
  'succeeded',
  'failed',
  'unknown',
  'rejected',
  'cancelled',
  'expired',
  'stale',
  'denied',
] as const;
export type State = (typeof STATES)[number];

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export const TARGET_KINDS = ['service', 'alert', 'new service', 'freeze'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

/** What a change acts on. `kind` and `id` together name its lock. */
export interface Target {
  readonly kind: TargetKind;
  readonly id: string;
  readonly name: string;
  /** Null: nobody has said, so that no rule about tags or warehouses can be decided. */
  readonly tags: readonly string[] | null;
  readonly warehouse: string | null;
}

/** What is known of a target: never more than was read or replied at `seenAt`. */
export interface Snapshot {
  readonly fields: JsonObject;
  /** What changes by itself, such as a state: shown to people and never compared. */
  readonly volatileFields?: JsonObject | undefined;
  readonly seenAt: Date;
  readonly source: string;
}

/** One field of a plan as people read it; `before` is null where nothing was seen of it. */
export interface PlanRow {
  readonly field: string;
  readonly label: string;
  readonly before: Json;
  readonly after: Json;
}

export interface Plan {
  readonly target: Target;
  readonly args: JsonObject;
  /** The exact body that is sent, and how people read the call: `PATCH state`. */
  readonly sends: string;
  readonly body: JsonObject;
  readonly before: Snapshot | null;
  readonly rows: readonly PlanRow[];
  /** Fields that the target has and that stay as they are. */
  readonly unchangedFields: readonly string[];
  readonly warnings: readonly string[];
  /** Missing where nothing is to be said of it. Approvals are not bound to it. */
  readonly cost?: CostEffect | undefined;
  /** Missing where it runs as soon as it may, and holds. Approvals are bound to it. */
  readonly timing?: Timing | undefined;
}

/** When a change runs, and how long it holds. */
export interface Timing {
  /** An instant as ISO text in UTC; null: as soon as it may. */
  readonly startAt: string | null;
  readonly revert: RevertPlan | null;
}

/** What takes a change back by itself, so many milliseconds after it succeeded. */
export interface RevertPlan {
  readonly afterMs: number;
  /** How people read it, and the words of the command that does it. */
  readonly label: string;
  readonly line: string;
}

/** What a change would cost or save, estimated once, so that every drawing of it says the same. */
export interface CostEffect {
  readonly text: string;
  /** Credits of compute a day, negative where it saves; null where it is not known. */
  readonly perDay: number | null;
  /** The same beside what it costs until then: −1 is all of it. */
  readonly share: number | null;
}

/** What a rule of the policy asks for before a change may run. */
export interface Requirement {
  /** The rule's place in the file, counted from 1. */
  readonly rule: number;
  readonly to: RoleName;
  /** Whose approvals count; null where the rule asks for none. */
  readonly from: RoleName | null;
  readonly count: number;
  readonly self: boolean;
  readonly reason: boolean;
  readonly expiresAfterMs: number;
  readonly channel: string | null;
  /** Who may decide as well once it has waited so long; null where the rule names nobody. */
  readonly escalation: { readonly to: RoleName; readonly afterMs: number } | null;
  /** Who may run it alone in an emergency; null where the rule names nobody. */
  readonly breakGlass: RoleName | null;
}

export interface Verdict {
  readonly by: UserId;
  readonly at: Date;
}

export interface Rejection extends Verdict {
  readonly reason: string;
}

/** Somebody took it on themselves: nobody approved it, and everybody is told. */
export interface BreakGlassUse extends Verdict {
  readonly reason: string;
}

/** What another person found when they looked at a broken glass afterwards. */
export interface Review extends Verdict {
  readonly note: string;
}

/** A freeze of the file names whom to ask; one that was made in Slack the change that made it. */
export interface BlockingFreeze {
  readonly until: Date;
  readonly reason: string;
  readonly by: string | null;
  readonly made?: { readonly id: ChangeId; readonly by: UserId } | undefined;
}

export type ExecutionOutcome =
  | {
      readonly how: 'succeeded';
      readonly at: Date;
      readonly tookMs: number;
      readonly requestId: string | null;
      /** What the server reported, in words; never more than it said. */
      readonly reported: readonly string[];
    }
  | {
      readonly how: 'failed' | 'unknown';
      readonly at: Date;
      readonly tookMs: number;
      readonly requestId: string | null;
      readonly status: number | null;
      readonly text: string;
    };

export interface Resolution extends Verdict {
  readonly happened: boolean;
  readonly note: string;
}

/** Where a message of ours stands, so that any replica can draw it again. */
export interface Position {
  readonly channel: ChannelId;
  readonly ts: string;
}

export interface Change {
  readonly id: ChangeId;
  readonly command: string;
  readonly requester: UserId;
  readonly reason: string | null;
  readonly plan: Plan;
  /** Binds an approval to exactly this command, target, body and before-state. */
  readonly digest: string;
  readonly requires: Requirement;
  readonly state: State;
  readonly version: number;
  readonly approvals: readonly Verdict[];
  readonly rejection: Rejection | null;
  readonly cancelledBy: UserId | null;
  /** Why a change became stale or was denied at execution, as a refusal's name. */
  readonly stopReason: string | null;
  /** The freeze that stopped it, as it was then; missing where it was not that. */
  readonly frozenBy?: BlockingFreeze | undefined;
  readonly outcome: ExecutionOutcome | null;
  readonly resolution: Resolution | null;
  readonly breakGlass: BreakGlassUse | null;
  readonly review: Review | null;
  readonly createdAt: Date;
  /** Since when it waits for others; null while it is a draft. */
  readonly confirmedAt: Date | null;
  readonly expiresAt: Date;
  /** Not claimed before this instant: it is timed, or a permit was handed back. */
  readonly notBefore: Date | null;
  /** When it is to be taken back; set when it succeeded. */
  readonly revertAt: Date | null;
  /** The change that this one takes back at its time, approved together with it. */
  readonly parent: ChangeId | null;
  /** The change that takes this one back, as far as it is; missing where there is none. */
  readonly child?: { readonly id: ChangeId; readonly state: State } | undefined;
  readonly lease: { readonly owner: string; readonly until: Date } | null;
  /** Where the requester typed; null for a direct message or an unknown place. */
  readonly origin: ChannelId | null;
  readonly card: Position | null;
}

export function targetKey(target: Target): string {
  return `${target.kind}:${target.id}`;
}

export function isEnded(change: Change): boolean {
  return !['draft', 'pending', 'approved', 'executing', 'unknown'].includes(change.state);
}
