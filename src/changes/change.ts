import type { Json, JsonObject } from '../base/text.ts';
import type { CostEffect, EffectKind } from './cost-effect.ts';
import type { Evidence, FollowUp } from './follow-up.ts';
import type { Requirement } from './requirement.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ChangeId = Branded<'ChangeId'>;
export type UserId = Branded<'UserId'>;
export type ChannelId = Branded<'ChannelId'>;

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
export const TARGET_KINDS = ['service', 'alert', 'new service', 'freeze', 'schedule'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

/** What a change acts on. `kind` and `id` together name its lock. */
export interface Target {
  readonly kind: TargetKind;
  readonly id: string;
  readonly name: string;
  /** Null if unknown: then rules with tags or warehouses cannot be decided. */
  readonly tags: readonly string[] | null;
  readonly warehouse: string | null;
  /** Set for a service that the configuration does not list: tags and warehouse are the server's. */
  readonly discovered?: true;
}

/** The known state of a target at `seenAt`, from a read or a reply. */
export interface Snapshot {
  readonly fields: JsonObject;
  /** Fields that change by themselves, for example a state: shown to users, never compared. */
  readonly volatileFields?: JsonObject | undefined;
  readonly seenAt: Date;
  readonly source: string;
  /** Read for this plan, so that it is read again before the change is sent. */
  readonly wasRead?: true | undefined;
}

/** One field of a plan as users read it; `before` is null if it was never seen. */
export interface PlanRow {
  readonly field: string;
  readonly label: string;
  readonly before: Json;
  readonly after: Json;
}

export interface Plan {
  readonly target: Target;
  readonly args: JsonObject;
  /** Method and operation of the request as users read it: `PATCH state`. */
  readonly sends: string;
  /** The exact body of the request. */
  readonly body: JsonObject;
  readonly before: Snapshot | null;
  readonly rows: readonly PlanRow[];
  /** The fields of the target that do not change. */
  readonly unchangedFields: readonly string[];
  readonly warnings: readonly string[];
  /** What could not be read for this plan, with the reason; missing if nothing had to be read. */
  readonly gaps?: readonly string[] | undefined;
  /** Missing if the change has no cost effect. */
  readonly cost?: CostEffect | undefined;
  /** Missing for a change that runs once approved and has no revert. */
  readonly timing?: Timing | undefined;
}

/** When a change runs, and when it is reverted. */
export interface Timing {
  /** A time as ISO text in UTC; null: once approved. */
  readonly startAt: string | null;
  readonly revert: RevertPlan | null;
  /** The schedule of which the change is one run, approved with it; missing for any other change. */
  readonly schedule?: ChangeId | undefined;
}

/** The automatic revert, `afterMs` milliseconds after the change succeeded. */
interface RevertPlan {
  readonly afterMs: number;
  /** The label that users read, and the command line that reverts. */
  readonly label: string;
  readonly line: string;
}

/** A value that differs from the preview, as users read it: `16–64 GB`. */
export interface StateDifference {
  readonly label: string;
  readonly was: string;
  readonly is: string;
}

/** What the read of the target right before sending found, if that has to be shown. */
export type StateCheck =
  | {
      readonly kind: 'differs';
      readonly differences: readonly StateDifference[];
      /** The later change of the same target; null if none ran in Signalbox. */
      readonly changedBy: { readonly id: ChangeId; readonly by: UserId; readonly at: Date } | null;
    }
  /** The read failed, so that the change was sent as it was approved. */
  | { readonly kind: 'unverified'; readonly why: string };

export interface Verdict {
  readonly by: UserId;
  readonly at: Date;
}

export interface Rejection extends Verdict {
  readonly reason: string;
}

/** A use of break-glass: the change runs without approvals, and users are notified. */
interface BreakGlassUse extends Verdict {
  readonly reason: string;
}

/** The review of a break-glass change by another person. */
export interface Review extends Verdict {
  readonly note: string;
}

/** The freeze that stopped a change. `made` is the change that created a freeze in Slack. */
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
      /** What the server reported, as text for users. */
      readonly reported: readonly string[];
      /** The id of what the request created; missing for any other request. */
      readonly createdId?: string | undefined;
    }
  | {
      readonly how: 'failed' | 'unknown';
      readonly at: Date;
      readonly tookMs: number;
      readonly requestId: string | null;
      readonly status: number | null;
      readonly text: string;
    };

/** Who or what settled an unknown outcome: a user, or a reading of the target. */
export interface Resolution extends Omit<Verdict, 'by'> {
  readonly by: UserId | 'signalbox';
  readonly happened: boolean;
  readonly note: string;
  /** Missing if a user resolved it. */
  readonly evidence?: Evidence | undefined;
}

/** The position of a posted message, so that any replica can update it. */
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
  /** The plan digest over request, plan and requirement, to which approvals are bound. */
  readonly digest: string;
  readonly requires: Requirement;
  readonly state: State;
  readonly version: number;
  readonly approvals: readonly Verdict[];
  readonly rejection: Rejection | null;
  readonly cancelledBy: UserId | null;
  /** The refusal for which the change became stale or denied. */
  readonly stopReason: string | null;
  /** The freeze that stopped the change, as it was then; missing for other reasons. */
  readonly frozenBy?: BlockingFreeze | undefined;
  /** Missing if the target was as in the preview, or was not read. */
  readonly stateCheck?: StateCheck | undefined;
  readonly outcome: ExecutionOutcome | null;
  readonly resolution: Resolution | null;
  readonly breakGlass: BreakGlassUse | null;
  readonly review: Review | null;
  readonly createdAt: Date;
  /** When the requester confirmed the draft; null before. */
  readonly confirmedAt: Date | null;
  readonly expiresAt: Date;
  /** Not claimed before this time: the change is timed, or its permit was handed back. */
  readonly notBefore: Date | null;
  /** When the revert is due; set when the change succeeded. */
  readonly revertAt: Date | null;
  /** The change that this one reverts; both were approved together. */
  readonly parent: ChangeId | null;
  /** The revert of this change; missing until it is planned. */
  readonly child?: { readonly id: ChangeId; readonly state: State } | undefined;
  /** What was read of the target since the send; missing if it is not followed. */
  readonly followUp?: FollowUp | undefined;
  readonly lease: { readonly owner: string; readonly until: Date } | null;
  /** The channel of the command; null for a direct message or if unknown. */
  readonly origin: ChannelId | null;
  readonly card: Position | null;
}

export function targetKey(target: Target): string {
  return `${target.kind}:${target.id}`;
}

export function isEnded(change: Change): boolean {
  return !['draft', 'pending', 'approved', 'executing', 'unknown'].includes(change.state);
}

/** Whether the row was modified in the database, so that none of its values may be shown. */
export function hasAuditMismatch({ stopReason }: Pick<Change, 'stopReason'>): boolean {
  return stopReason === 'audit-mismatch';
}

/** Returns the expected cost effect of a plan; undefined for a command without one. Never throws. */
export type EstimateCost = (
  command: { readonly effect?: EffectKind },
  plan: Plan,
) => Promise<CostEffect | undefined>;
