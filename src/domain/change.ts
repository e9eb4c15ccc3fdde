// A change, its parts, and the words that all rooms share about it: ids, states, verbs, refusals.

import type { Json, JsonObject } from '../base/text.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ChangeId = Branded<'ChangeId'>;
export type UserId = Branded<'UserId'>;
export type ChannelId = Branded<'ChannelId'>;

/** One request to run one command with exact arguments, and what became of it. */
export interface Change {
  readonly id: ChangeId;
  /** The organization of the cloud in which its target is. */
  readonly organization: string;
  readonly command: string;
  readonly requester: UserId;
  readonly reason: string | null;
  readonly plan: Plan;
  /** The plan digest over request, plan and requirement, to which approvals are bound. */
  readonly digest: string;
  readonly requires: Requirement;
  readonly state: State;
  /** The number of its last event, and the hash of that event: the mark that messages carry. */
  readonly version: number;
  readonly hash: string;
  /** How often it was claimed. */
  readonly attempts: number;
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
  /** What surrounds it now; missing where it was not gathered, and once the change has ended. */
  readonly news?: News | undefined;
  /** Until this time nobody is reminded; null: reminders go on. */
  readonly snoozedUntil: Date | null;
  /** The right of one process to send the request once. `nonce` names this attempt. */
  readonly lease: { readonly owner: string; readonly until: Date; readonly nonce: string } | null;
  /** The channel of the command; null for a direct message or if unknown. */
  readonly origin: ChannelId | null;
  readonly card: Position | null;
  /** The copies of the card in direct messages. Its buttons count there as well. */
  readonly copies: readonly (Position & { readonly to: UserId })[];
}

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

/** The position of a posted message, so that any replica can update it. */
export interface Position {
  readonly channel: ChannelId;
  readonly ts: string;
}

/** A role of the policy, as the configuration names it. */
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

/** What differs between the kinds of targets. A new kind does not compile until it is added here. */
interface TargetTraits {
  /** The label before the name of the target on a preview or a card. */
  readonly label: string;
  /** The noun of a command that the title leaves out: `service stop` on x → `Stop x`. */
  readonly impliedNoun: string | null;
  /** Where the change is applied: by the server of an API, or in the database of Signalbox. */
  readonly appliedBy: 'server' | 'signalbox';
  /** Whether the target exists before the change, so that it has an id, a state and tags. */
  readonly exists: boolean;
  /** Whether the usage report has costs for it, so that the effect of a change is measured. */
  readonly hasCosts: boolean;
  /** Whether a successful change of it can explain a change of the costs. */
  readonly affectsCosts: boolean;
  /** False for a freeze and a schedule: a freeze must not prevent users from ending them. */
  readonly canBeFrozen: boolean;
  /** The list in which a command line finds it by name; null if it is in none. */
  readonly listedIn: 'services' | 'alerts' | null;
  /** Whether it selects services, as the scope of a freeze does. */
  readonly isScope: boolean;
}

export const TARGET_TRAITS: Readonly<Record<TargetKind, TargetTraits>> = {
  service: {
    label: 'Service',
    impliedNoun: 'service',
    appliedBy: 'server',
    exists: true,
    hasCosts: true,
    affectsCosts: true,
    canBeFrozen: true,
    listedIn: 'services',
    isScope: false,
  },
  alert: {
    label: 'Alert',
    impliedNoun: null,
    appliedBy: 'server',
    exists: true,
    hasCosts: false,
    affectsCosts: false,
    canBeFrozen: true,
    listedIn: 'alerts',
    isScope: false,
  },
  'new service': {
    label: 'Service',
    impliedNoun: null,
    appliedBy: 'server',
    exists: false,
    hasCosts: false,
    affectsCosts: true,
    canBeFrozen: true,
    listedIn: null,
    isScope: false,
  },
  freeze: {
    label: 'Scope',
    impliedNoun: 'change',
    appliedBy: 'signalbox',
    exists: false,
    hasCosts: false,
    affectsCosts: true,
    canBeFrozen: false,
    listedIn: null,
    isScope: true,
  },
  // Its id is that of the service. Its runs are changes of the service, which a freeze stops.
  schedule: {
    label: 'Service',
    impliedNoun: 'service',
    appliedBy: 'signalbox',
    exists: false,
    hasCosts: false,
    affectsCosts: false,
    canBeFrozen: false,
    listedIn: null,
    isScope: false,
  },
};

/** What a change will do, computed before the requester confirms it. */
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

/** The estimated cost effect. Stored, so that every card shows the same estimate. */
export interface CostEffect {
  /** The whole estimate, with its range, basis and horizon. */
  readonly text: string;
  /** Missing where the estimate is unknown, and in changes of older releases. */
  readonly summary?: CostSummary | undefined;
  /** Compute credits per day, negative for savings; null if unknown. */
  readonly perDay: number | null;
  /** The effect relative to the current cost: −1 saves all of it. */
  readonly share: number | null;
}

/** The estimate in few words. */
export interface CostSummary {
  /** `−18.0 credits per day`, or of a schedule per week. */
  readonly perDay: string;
  /** The same with its range, and what continues: ` (−9.0 to −26.0) · storage continues`. */
  readonly withRange: string;
}

/** How a command affects the costs of its target. */
export type EffectKind = 'stop' | 'start' | 'scale' | 'create' | 'schedule';

/** Returns the expected cost effect of a plan; undefined for a command without one. Never throws. */
export type EstimateCost = (
  command: { readonly effect?: EffectKind },
  plan: Plan,
) => Promise<CostEffect | undefined>;

/** When a change runs, and when it is reverted. */
export interface Timing {
  /** A time as ISO text in UTC; null: once approved. */
  readonly startAt: string | null;
  readonly revert: RevertPlan | null;
  /** The schedule of which the change is one run, approved with it; missing for any other change. */
  readonly schedule?: ChangeId | undefined;
}

/** The automatic revert: `afterMs` milliseconds after the change succeeded, or at the moment `until`. */
interface RevertPlan {
  readonly afterMs: number;
  /** As ISO text in UTC; missing: a duration was requested. */
  readonly until?: string | undefined;
  /** The label that users read, and the command line that reverts. */
  readonly label: string;
  readonly line: string;
}

/** Who decided, and when. */
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

/** What surrounds an open change now, for everyone who decides about it. It has no authority. */
export interface News {
  /** Identical changes of the hour before it. */
  readonly before: readonly Change[];
  /** Other open changes of its target. */
  readonly others: readonly Change[];
  /** The freezes of its target that are active, or begin within a week. */
  readonly freezes: readonly (BlockingFreeze & { readonly from: Date })[];
  /** The target with its tags and warehouse of now; null: as in the plan. */
  readonly target: Target | null;
  /** Why it could not run now, with all approvals; null: it could. */
  readonly refusal: Refusal | null;
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

/** A value that differs from the preview, as users read it: `16–64 GB`. */
export interface StateDifference {
  readonly label: string;
  readonly was: string;
  readonly is: string;
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

/** The values of a target before and after a request that has no answer. */
export interface Evidence {
  readonly shown: string;
  readonly shownAt: Date;
  readonly before: string;
  readonly beforeAt: Date;
}

/**
 * `open`: Signalbox still reads the target. `settled` and `failed`: the final value. `given-up`: not
 * settled in time. `superseded`: another change of the target was sent. `unreadable`: the server
 * does not permit the read. `closed`: nothing is left to follow.
 */
export const FOLLOW_UP_STATES = [
  'open',
  'settled',
  'failed',
  'given-up',
  'superseded',
  'unreadable',
  'closed',
] as const;

/** Why a reading does not settle an unknown outcome by itself. */
export const EVIDENCE_GAPS = [
  'creation',
  'not-as-requested',
  'under-way',
  'before-unknown',
  'was-so-before',
  'changed-since',
] as const;
export type EvidenceGap = (typeof EVIDENCE_GAPS)[number];

/** What the optional reads showed of the target after the send. For users: it has no authority. */
export interface FollowUp {
  readonly state: (typeof FOLLOW_UP_STATES)[number];
  /** The last value that was read, and the time of the first reading with it. */
  readonly seen: { readonly text: string; readonly at: Date } | null;
  /** Why it cannot be read now: continues “unknown: ”. */
  readonly gap: string | null;
  readonly why: EvidenceGap | null;
  /** What an unanswered request may have created. */
  readonly candidates: readonly Candidate[];
  /** Counts what was shown: it increases when the shown values change. */
  readonly revision: number;
}

interface Candidate {
  readonly name: string;
  readonly id: string;
  readonly state: string | null;
  /** Null if the server does not report it. */
  readonly createdAt: Date | null;
}

/** `acme/service/2f7c…`: what a change acts on, in one word. Its lock is the stream `target/<key>`. */
export function targetKey({ organization, plan }: Targeted): string {
  const word = (text: string) => encodeURIComponent(text);
  const { kind, id } = plan.target;
  return `${word(organization)}/${word(kind)}/${word(id)}`;
}

interface Targeted {
  readonly organization: string;
  readonly plan: { readonly target: Pick<Target, 'kind' | 'id'> };
}

/** Whether only its requester may see the change: it was never confirmed. */
export function isPrivate({ confirmedAt }: Pick<Change, 'confirmedAt'>): boolean {
  return confirmedAt === null;
}

/** Whether the change is no longer open; one with an unknown outcome still is. */
export function isEnded(change: Change): boolean {
  return !['draft', 'pending', 'approved', 'executing', 'unknown'].includes(change.state);
}

// Without I, L, O, U, 0 and 1, because users read ids aloud and type them on phones.
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Makes a six-character id from random bytes: 730 million ids; the database refuses duplicates. */
export function changeIdFrom(bytes: Uint8Array): ChangeId {
  const letters = [...bytes.slice(0, 6)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  // The only place that makes a ChangeId.
  return letters.join('') as ChangeId;
}

/** Whether the text has the form of an id; the change need not exist. */
export function isChangeId(text: string): text is ChangeId {
  return /^[2-9A-HJKMNP-TV-Z]{6}$/.test(text);
}

/**
 * The title of a change: `service stop` on analytics-prod → `Stop analytics-prod`, `service schedule
 * pause` → `Pause schedule of analytics-prod`, `alert edit` → `Edit alert "5xx rate"`.
 */
export function changeTitle({ command, plan }: Pick<Change, 'command' | 'plan'>): string {
  const [noun = '', first = '', second] = command.split(' ');
  const verb = second ? `${second} ${first} of` : first;
  return `${upperFirst(verb)} ${objectOf({ noun, plan })}`;
}

/** What a change acts on, as a subject: `analytics-prod`, `Alert "5xx rate"`, `Schedule of staging`. */
export function changeSubject({ command, plan }: Pick<Change, 'command' | 'plan'>): string {
  const [noun = '', first = '', second] = command.split(' ');
  const { impliedNoun } = TARGET_TRAITS[plan.target.kind];
  const object = objectOf({ noun, plan });
  if (second) return `${upperFirst(first)} of ${object}`;
  return noun === impliedNoun ? object : upperFirst(object);
}

function objectOf({ noun, plan }: { noun: string; plan: Change['plan'] }): string {
  const { kind, name } = plan.target;
  const what = kind.endsWith(noun) ? noun : `${noun} for`;
  const shown = kind === 'alert' ? `"${name}"` : name;
  return noun === TARGET_TRAITS[kind].impliedNoun ? shown : `${what} ${shown}`;
}

function upperFirst(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The user who acts, with the current roles. */
export interface Actor {
  readonly id: UserId;
  readonly roles: readonly RoleName[];
}

/** What users decide about a change, with a button or a form. */
export const VERBS = [
  'confirm',
  'approve',
  'reject',
  'cancel',
  'break-glass',
  'review',
  'happened',
  'did-not-happen',
  'snooze',
] as const;
export type Verb = (typeof VERBS)[number];

/** A decision of a user about a change. */
export interface Press {
  readonly verb: Verb;
  readonly by: UserId;
}

/** All reasons for which Signalbox refuses. `slack` has one sentence for each. */
export const REFUSALS = [
  // The state of a change.
  'not-found',
  'not-draft',
  'not-pending',
  'not-approved',
  'not-executing',
  'not-unknown',
  'expired',
  'not-requester',
  'self-approval',
  'already-approved',
  'already-decided',
  'note-required',
  'too-early',
  'already-received',
  // The button was not pressed where Signalbox put it.
  'foreign-place',
  'target-changed',
  'tags-changed',
  'approvals-missing',
  'schedule-ended',
  'too-late',
  'no-break-glass',
  'may-not-break-glass',
  'not-ended',
  'already-reviewed',
  'restored',
  'card-deleted',
  // The identity of a user.
  'lookup-failed',
  'deactivated',
  'guest',
  'bot',
  'other-workspace',
  'rate-limited',
  // The policy.
  'no-rule',
  'not-a-requester',
  'not-an-approver',
  'frozen',
  'never',
  'reason-required',
  'not-listed',
  'not-verified',
] as const;
export type Refusal = (typeof REFUSALS)[number];
