// A change, its parts, and the words that all rooms share about it: ids, states, verbs, refusals.

import { z } from 'zod';
import type { Json, JsonObject } from '../base/text.ts';
import { STATE_WORDS } from './words.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ChangeId = Branded<'ChangeId'>;
export type UserId = Branded<'UserId'>;
export type ChannelId = Branded<'ChannelId'>;

// The schemas of this file are of what events and readings store. The types of the parts of a change are inferred.
const isWord = (value: unknown) => typeof value === 'string' && value !== '';
export const ChangeKey = z.custom<ChangeId>(isWord);
export const User = z.custom<UserId>(isWord);
export const Fields = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
/** The program through which a change was requested: for a person, who confirms it in Slack, or for itself. */
export const Via = z.object({
  /** Its name in the configuration. */
  agent: z.string().min(1),
  /** The subject of its credential. */
  subject: z.string(),
  for: z.enum(['person', 'itself']),
});
export type Via = z.infer<typeof Via>;

const AGENT = 'agent:';

/** The requester of what an agent asks for itself. */
export function agentId(agent: string): UserId {
  // The only actor beside people that can be a requester.
  return `${AGENT}${agent}` as UserId;
}

/** Whether an actor is a person. Agents, schedules and Signalbox are never mentioned or messaged, and never decide. */
export function isPerson(id: string): boolean {
  return /^[UW][A-Z0-9]+$/.test(id);
}

/** `agent ci`: an actor that is no person, in words. */
export function actorName(id: string): string {
  return id.startsWith(AGENT) ? `agent ${id.slice(AGENT.length)}` : id;
}

const AnyJson = z.custom<Json>((value) => value !== undefined);
const Texts = z.array(z.string()).readonly();
/** A date, or its ISO text. */
export const At = z.preprocess(
  (value) => (typeof value === 'string' ? new Date(value) : value),
  z.date(),
);

/** One request to run one command with exact arguments, and what became of it. */
export interface Change extends Readonly<z.infer<z.ZodObject<typeof Request>>> {
  readonly id: ChangeId;
  readonly state: State;
  /** The number of its last event, and the hash of that event: the mark that messages carry. */
  readonly version: number;
  readonly hash: string;
  /** The hashes of its last event that a card shows, and of later ones: a card with one of them is up to date. */
  readonly shownBy: readonly string[];
  /** The hashes of its events, and of lost ones that it has answered: the marks that its messages may show. */
  readonly marks: readonly string[];
  /** The places in the log of its plan and of its last ending; `endedSeq` null: it was not sent. */
  readonly plannedSeq: number;
  readonly endedSeq: number | null;
  /** How often it was claimed. */
  readonly attempts: number;
  /** Why its attempts sent nothing; missing: no attempt ended so. */
  readonly notSent?: {
    /** Of the last attempt, as a sentence. */
    readonly why: string;
    readonly since: Date;
    /** The causes, and the event that named each first: people read once of each. */
    readonly causes: Readonly<Record<string, number>>;
  };
  readonly approvals: readonly Verdict[];
  /** How approvers lowered the plan, the first one first: who, and the plan before it. Missing: nobody did. */
  readonly narrowings?: readonly (Verdict & {
    readonly version: number;
    readonly wider: { readonly plan: Plan; readonly digest: string };
  })[];
  /** The changes that ran by this standing approval, each counted at its confirmation; missing: none. */
  readonly uses?: readonly (Verdict & { readonly change: ChangeId } & {
    readonly version: number;
    readonly hash: string;
  })[];
  /** Who ended this standing approval before its time; missing: nobody did. */
  readonly revoked?: Omit<Resolution, 'happened' | 'evidence' | 'note'>;
  readonly rejection: (Verdict & { readonly reason: string }) | null;
  readonly cancelledBy: UserId | null;
  /** The refusal for which the change became stale or denied. */
  readonly stopReason: string | null;
  /** The freeze that stopped the change, as it was then; missing for other reasons. */
  readonly frozenBy?: BlockingFreeze | undefined;
  /** Missing if the target was as in the preview, or was not read. */
  readonly stateCheck?: StateCheck | undefined;
  readonly outcome: ExecutionOutcome | null;
  readonly resolution: Resolution | null;
  /** The attempt whose answer is missing: only its process can add it. */
  readonly unanswered?: string | undefined;
  readonly lateAnswer?: LateAnswer | undefined;
  /** It runs without approvals, and users are notified. */
  readonly breakGlass: (Verdict & { readonly reason: string }) | null;
  readonly review: Review | null;
  readonly createdAt: Date;
  /** When the requester confirmed the draft; null before. */
  readonly confirmedAt: Date | null;
  /** When the revert is due; set when the change succeeded. */
  readonly revertAt: Date | null;
  /** The revert of this change; missing until it is planned. */
  readonly child?: { readonly id: ChangeId; readonly state: State } | undefined;
  /** What was read of the target since the send; missing if it is not followed. */
  readonly followUp?: FollowUp | undefined;
  /** The freeze that it made has ended or was lifted. */
  readonly isOver?: boolean;
  /** What surrounds it now; missing where it was not gathered, and once the change has ended. */
  readonly news?: News | undefined;
  /** The requester has seen the password of the created service. */
  readonly passwordShown?: boolean;
  /** The right of one process to send the request once. `nonce` names this attempt. */
  readonly lease: { readonly owner: string; readonly until: Date; readonly nonce: string } | null;
  readonly card: Position | null;
  /** The replies with its states, where Slack does not let the card be edited; the buttons of the newest one count. */
  readonly states?: readonly Position[];
  /** The copies of the card in direct messages. Its buttons count there as well. */
  readonly copies: readonly (Position & { readonly to: UserId })[];
}

export type State = keyof typeof STATE_WORDS;
// Its keys are the states.
export const STATES = Object.keys(STATE_WORDS) as readonly State[];

/** The position of a posted message, so that any replica can update it. */
export const PostedAt = { channel: z.custom<ChannelId>(isWord), ts: z.string().min(1) };
export type Position = Readonly<z.infer<z.ZodObject<typeof PostedAt>>>;

/** A role of the policy, as the configuration names it. */
export type RoleName = string;

/** What a rule of the policy requires before a change may run. */
export const Requirement = z.object({
  /** The rule's place in the file, counted from 1. */
  rule: z.int(),
  to: z.string(),
  /** The role whose approvals count; null if the rule needs no approval. */
  from: z.string().nullable(),
  count: z.int().nonnegative(),
  self: z.boolean(),
  reason: z.boolean(),
  expiresAfterMs: z.number(),
  channel: z.string().nullable(),
  /** The role that may also decide after this wait; null if the rule has none. */
  escalation: z.object({ to: z.string(), afterMs: z.number() }).nullable(),
  /** The role that may use break-glass; null if the rule has none. */
  breakGlass: z.string().nullable(),
});
export type Requirement = z.infer<typeof Requirement>;

/** What a change acts on. `kind` and `id` together name its lock. */
const Target = z.object({
  kind: z.enum(['service', 'alert', 'new service', 'freeze', 'schedule', 'standing approval']),
  id: z.string(),
  name: z.string(),
  /** Null if unknown: then rules with tags or warehouses cannot be decided. */
  tags: Texts.nullable(),
  warehouse: z.string().nullable(),
  /** Set for a service that the configuration does not list: tags and warehouse are the server's. */
  discovered: z.literal(true).optional(),
  /** Where several are configured, that of a service; alerts and freezes have none. */
  organization: z.object({ id: z.string(), name: z.string() }).readonly().optional(),
});
export type Target = z.infer<typeof Target>;
export type TargetKind = Target['kind'];

const OWN = { appliedBy: 'signalbox', listedIn: null } as const;

/**
 * What differs between the kinds of targets. A new kind does not compile until it is added here.
 * `label`: before the name of the target on a preview or a card. `impliedNoun`: the noun of a command that the title
 * leaves out: `service stop` on x → `Stop x`. `appliedBy`: the server of an API, or Signalbox in its database, which no
 * freeze stops: users must be able to end a freeze. `listedIn`: the list in which a command line finds it by name; null:
 * it does not exist before the change.
 */
export const TARGET_TRAITS = {
  service: { label: 'Service', impliedNoun: 'service', appliedBy: 'server', listedIn: 'services' },
  alert: { label: 'Alert', impliedNoun: null, appliedBy: 'server', listedIn: 'alerts' },
  'new service': { label: 'Service', impliedNoun: null, appliedBy: 'server', listedIn: null },
  freeze: { label: 'Scope', impliedNoun: 'change', ...OWN },
  // Its name is what it allows. Its uses are changes of services, which a freeze stops.
  'standing approval': { label: 'Allows', impliedNoun: 'change', ...OWN },
  // Its id is that of the service. Its runs are changes of the service, which a freeze stops.
  schedule: { label: 'Service', impliedNoun: 'service', ...OWN },
} as const satisfies Record<TargetKind, object>;

/** The known state of a target at `seenAt`, from a read or a reply. */
const Snapshot = z.object({
  fields: Fields,
  /** Fields that change by themselves, for example a state: shown to users, never compared. */
  volatileFields: Fields.optional(),
  seenAt: At,
  source: z.string(),
  /** Read for this plan, so that it is read again before the change is sent. */
  wasRead: z.literal(true).optional(),
});
export type Snapshot = z.infer<typeof Snapshot>;

/** One field of a plan as users read it; `before` is null if it was never seen. */
const PlanRow = z.object({ field: z.string(), label: z.string(), before: AnyJson, after: AnyJson });
export type PlanRow = z.infer<typeof PlanRow>;

/** The estimate in few words. */
const CostSummary = z.object({
  /** `−18.0 credits per day`, or of a schedule per week. */
  perDay: z.string(),
  /** The same with its range, and what continues: ` (−9.0 to −26.0) · storage continues`. */
  withRange: z.string(),
});
export type CostSummary = z.infer<typeof CostSummary>;

/** The estimated cost effect. Stored, so that every card shows the same estimate. */
const CostEffect = z.object({
  /** The whole estimate, with its range, basis and horizon. */
  text: z.string(),
  /** Missing where the estimate is unknown. */
  summary: CostSummary.optional(),
  /** Compute credits per day, negative for savings; null if unknown. */
  perDay: z.number().nullable(),
  /** The effect relative to the current cost: −1 saves all of it. */
  share: z.number().nullable(),
});
export type CostEffect = z.infer<typeof CostEffect>;

/** The automatic revert: `afterMs` milliseconds after the change succeeded, or at the moment `until`. */
const RevertPlan = z.object({
  afterMs: z.number(),
  /** The label that users read, and the command line that reverts. */
  label: z.string(),
  line: z.string(),
  /** As ISO text in UTC; missing: a duration was requested. */
  until: z.string().optional(),
});

/** When a change runs, and when it is reverted. */
const Timing = z.object({
  /** A time as ISO text in UTC; null: once approved. */
  startAt: z.string().nullable(),
  revert: RevertPlan.nullable(),
  /** The schedule of which the change is one run, approved with it; missing for any other change. */
  schedule: ChangeKey.optional(),
});
export type Timing = z.infer<typeof Timing>;

/** What a change will do, computed before the requester confirms it. */
export const Plan = z.object({
  target: Target,
  args: Fields,
  /** Method and operation of the request as users read it: `PATCH state`. */
  sends: z.string(),
  /** The exact body of the request. */
  body: Fields,
  before: Snapshot.nullable(),
  rows: z.array(PlanRow).readonly(),
  /** The fields of the target that do not change. */
  unchangedFields: Texts,
  warnings: Texts,
  /** What could not be read for this plan, with the reason; missing if nothing had to be read. */
  gaps: Texts.optional(),
  /** Missing if the change has no cost effect. */
  cost: CostEffect.optional(),
  /** Missing for a change that runs once approved and has no revert. */
  timing: Timing.optional(),
});
export type Plan = z.infer<typeof Plan>;

/** What a change is from its first event on. */
export const Request = {
  /** The organization of the cloud in which its target is. */
  organization: z.string(),
  requester: User,
  command: z.string().min(1),
  reason: z.string().nullable(),
  /** The agent that requested it; null: a person did. */
  via: Via.nullable().default(null),
  /** What this agent says, cleaned: shown as a quotation, apart from the reason. */
  words: z.string().nullable().default(null),
  /** The key of the request, by which a program that runs again finds it. */
  requestKey: z.string().nullable().default(null),
  plan: Plan,
  /** The plan digest over request, plan and requirement, to which approvals are bound. */
  digest: z.string().min(1),
  requires: Requirement,
  expiresAt: At,
  /** Not claimed before this time: the change is timed, or its permit was handed back. */
  notBefore: At.nullable(),
  /** The change that this one reverts; both were approved together. */
  parent: ChangeKey.nullable(),
  /** The standing approval by which it runs, as its requester saw; missing: it has approvals of its own. */
  standing: ChangeKey.optional(),
};

/** How a command affects the costs of its target. */
export type EffectKind = 'stop' | 'start' | 'scale' | 'create' | 'schedule';

/** Returns the expected cost effect of a plan; undefined for a command without one. Never throws. */
export type EstimateCost = (
  command: { readonly effect?: EffectKind },
  plan: Plan,
) => Promise<CostEffect | undefined>;

/** Who decided, and when. */
export const Verdict = z.object({ by: User, at: At });
type Verdict = z.infer<typeof Verdict>;

/** The review of a break-glass change by another person. */
export type Review = Verdict & { readonly note: string };

/** The freeze that stopped a change. `made` is the change that created a freeze in Slack. */
export const BlockingFreeze = z.object({
  until: At,
  reason: z.string(),
  by: z.string().nullable(),
  made: z.object({ id: ChangeKey, by: User.nullable() }).optional(),
});
export type BlockingFreeze = z.infer<typeof BlockingFreeze>;

/** What surrounds an open change now, for everyone who decides about it. It has no authority. */
export interface News {
  /** Other changes of its target: the open ones, and those that did the same within the hour before. */
  readonly others: readonly Change[];
  /** The freezes of its target that are active, or begin within a week. */
  readonly freezes: readonly (BlockingFreeze & { readonly from: Date })[];
  /** The target with its tags and warehouse of now; null: as in the plan. */
  readonly target: Target | null;
  /** Why it could not run now, with all approvals; null: it could. */
  readonly refusal: Refusal | null;
  /** The standing approval by which it runs; missing: it has approvals of its own. */
  readonly standing?: Change | undefined;
}

/** A value that differs from the preview, as users read it: `16–64 GB`. */
const StateDifference = z.object({ label: z.string(), was: z.string(), is: z.string() });
export type StateDifference = z.infer<typeof StateDifference>;

/** What the read of the target right before sending found, if that has to be shown. */
export const StateCheck = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('differs'),
    differences: z.array(StateDifference).readonly(),
    /** The later change of the same target; null if none ran in Signalbox. */
    changedBy: z.object({ id: ChangeKey, by: User, at: At }).nullable(),
  }),
  /** The read failed, so that the change was sent as it was approved. */
  z.object({ kind: z.literal('unverified'), why: z.string() }),
]);
export type StateCheck = z.infer<typeof StateCheck>;

const Call = { tookMs: z.number(), requestId: z.string().nullable() };
export const AcceptedCall = z.object({
  ...Call,
  /** What the server reported, as text for users. */
  reported: Texts,
  /** The id of what the request created; missing for any other request. */
  createdId: z.string().optional(),
});
/** Of a request that failed, or whose outcome is unknown. */
export const OtherCall = z.object({
  ...Call,
  status: z.number().nullable(),
  text: z.string(),
});

export type ExecutionOutcome = { readonly at: Date } & (
  | ({ readonly how: 'succeeded' } & Readonly<z.infer<typeof AcceptedCall>>)
  | ({ readonly how: 'failed' | 'unknown' } & Readonly<z.infer<typeof OtherCall>>)
);

/** Who or what settled an unknown outcome: a user, or a reading of the target. */
export interface Resolution extends Omit<Verdict, 'by'> {
  readonly by: UserId | 'signalbox';
  readonly happened: boolean;
  readonly note: string;
  /** Missing if a user resolved it. */
  readonly evidence?: Evidence | undefined;
}

/** The values of a target before and after a request that has no answer. */
export const Evidence = z.object({
  shown: z.string(),
  shownAt: At,
  before: z.string(),
  beforeAt: At,
});
export type Evidence = z.infer<typeof Evidence>;

/** An answer that was recorded after the outcome had become unknown, as evidence for the person who settles it. */
export const LateAnswer = {
  as: z.enum(['succeeded', 'failed', 'unknown', 'not-sent']),
  /** Null: nothing was sent. */
  answeredAt: At.nullable(),
  status: z.number().nullable(),
  text: z.string(),
};
export type LateAnswer = z.infer<z.ZodObject<typeof LateAnswer>>;

/** What the optional reads showed of the target after the send. For users: it has no authority. */
export const FollowUp = z.object({
  /**
   * `open`: Signalbox still reads the target. `settled` and `failed`: the final value. `given-up`: not
   * settled in time. `superseded`: another change of the target was sent. `unreadable`: the server
   * does not permit the read. `closed`: nothing is left to follow.
   */
  state: z.enum(['open', 'settled', 'failed', 'given-up', 'superseded', 'unreadable', 'closed']),
  /** The last value that was read, and the time of the first reading with it. */
  seen: z.object({ text: z.string(), at: At }).nullable(),
  /** Why it cannot be read now: continues “unknown: ”. */
  gap: z.string().nullable(),
  /** Why a reading does not settle an unknown outcome by itself. */
  why: z
    .enum([
      'creation',
      'not-as-requested',
      'under-way',
      'before-unknown',
      'was-so-before',
      'changed-since',
    ])
    .nullable(),
  /** What an unanswered request may have created; a part that the server does not report is null. */
  candidates: z
    .array(
      z.object({
        name: z.string(),
        id: z.string(),
        state: z.string().nullable(),
        createdAt: At.nullable(),
      }),
    )
    .readonly(),
  /** Counts what was shown: it increases when the shown values change. */
  revision: z.int().positive(),
});
export type FollowUp = z.infer<typeof FollowUp>;
export type EvidenceGap = NonNullable<FollowUp['why']>;

/** `acme/service/2f7c…`: what a change acts on, in one word. Its lock is the stream `target/<key>`. */
export function targetKey({ organization, plan: { target } }: Targeted): string {
  const parts = [organizationOf(target, organization), target.kind, target.id];
  return parts.map((text) => encodeURIComponent(text)).join('/');
}

/** The organization of a target. Freezes and standing approvals are Signalbox's own, and alerts of one API for all: of the first. */
export function organizationOf(
  { kind, organization }: Pick<Target, 'kind' | 'organization'>,
  first: string,
): string {
  const isOwn = kind === 'freeze' || kind === 'standing approval';
  return isOwn ? first : (organization?.id ?? first);
}

/** A name without that of the organization before it. */
export function nameWithin({ organization }: Pick<Target, 'organization'>, name: string): string {
  const start = `${organization?.name}/`;
  return organization && name.startsWith(start) ? name.slice(start.length) : name;
}

interface Targeted {
  /** That of a target that names none. */
  readonly organization: string;
  readonly plan: { readonly target: Pick<Target, 'kind' | 'id' | 'organization'> };
}

/** Whether only its requester may see the change: it was never confirmed. */
export function isPrivate({ confirmedAt }: Pick<Change, 'confirmedAt'>): boolean {
  return confirmedAt === null;
}

/** Whether Signalbox applies it itself, together with its event: nothing is sent, and no server accepts or rejects it. */
export function isLocal({ plan }: Pick<Change, 'plan'>): boolean {
  return TARGET_TRAITS[plan.target.kind].appliedBy === 'signalbox';
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
  if (plan.target.kind === 'standing approval') return upperFirst(object);
  return noun === impliedNoun ? object : upperFirst(object);
}

function objectOf({ noun, plan }: { noun: string; plan: Change['plan'] }): string {
  const { kind, name } = plan.target;
  const what = kind.endsWith(noun) ? noun : `${noun} for`;
  const shown = kind === 'alert' ? `"${name}"` : name;
  return noun === TARGET_TRAITS[kind].impliedNoun ? shown : `${what} ${shown}`;
}

export function upperFirst(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The user who acts, with the current roles. */
export interface Actor {
  readonly id: UserId;
  /** All ids of this person: on Grid one can have `U…` and `W…`. Missing: only `id`. */
  readonly ids?: readonly UserId[];
  readonly roles: readonly RoleName[];
  /** The agent that asks, for the user or for itself; missing: the user acts alone. */
  readonly agent?: string;
}

/** What users decide about a change, with a button or a form. */
export const VERBS = [
  'confirm',
  'approve',
  'narrow',
  'reject',
  'cancel',
  'break-glass',
  'review',
  'happened',
  'did-not-happen',
  'revoke',
] as const;
export type Verb = (typeof VERBS)[number];

/** A decision of a user about a change. */
export interface Press {
  readonly verb: Verb;
  readonly by: UserId;
}

/** The refusals of a rule of the policy. */
export const POLICY_DENIALS = [
  'no-rule',
  'not-a-requester',
  'frozen',
  'never',
  'reason-required',
  'not-listed',
  'not-verified',
  'agent-not-admitted',
] as const;

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
  'wider',
  'not-narrower',
  'already-decided',
  'note-required',
  'too-early',
  'already-received',
  'not-in-time',
  // The button was not pressed where Signalbox put it.
  'foreign-place',
  'older-state',
  'target-changed',
  'tags-changed',
  'approvals-missing',
  'schedule-ended',
  'standing-ended',
  'standing-used',
  'not-covered',
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
  'unlisted-workspace',
  'rate-limited',
  // The policy.
  ...POLICY_DENIALS,
  'not-an-approver',
  // The requests of an agent.
  'agent-limit',
  'key-used',
] as const;
export type Refusal = (typeof REFUSALS)[number];
