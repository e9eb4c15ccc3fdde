import type { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import type { LocalClock } from '../base/moments.ts';
import type { JsonObject } from '../base/text.ts';
import type {
  AcceptedChange,
  AcceptedChangeFilter,
  CostContext,
  DigestService,
} from '../costs/index.ts';
import type { Answer, Caller, CommandOffer, PersonLookup } from '../domain/answer.ts';
import {
  type Change,
  type EffectKind,
  type Plan,
  type PlanRow,
  type Snapshot,
  type StateDifference,
  type Target,
  type UserId,
  upperFirst,
} from '../domain/change.ts';
import type { FreezeService, NamedScope, SlackFreeze } from '../domain/freezes.ts';
import type { People } from '../domain/gate.ts';
import type { Policy } from '../domain/policy.ts';
import type { ScheduleService } from '../domain/schedules.ts';
import type { AllowedChange } from '../domain/standing.ts';
import {
  findByName,
  type NamedItem,
  type NoEffect,
  type Service,
  serviceTarget,
} from '../domain/targets.ts';
import type { RequestedTiming, TimingSupport } from '../domain/timing.ts';
import type { Log } from '../log/index.ts';
import type { CloudPermission } from '../servers/accepted-values.ts';
import type { AlertList, AlertsClient } from '../servers/alerts.ts';
import type { AlertsReads } from '../servers/alerts-reads.ts';
import type { Cloud } from '../servers/cloud.ts';
import type { CloudReads } from '../servers/cloud-reads.ts';
import type { SendResult } from '../servers/sent.ts';
import {
  type Field,
  type FieldContext,
  type ListedKind,
  type TypedValues,
  timingShape,
} from './arguments.ts';
import type { SettledRule } from './settled.ts';

/** Everything that a command may read and call. */
export interface CommandContext extends CostContext {
  readonly cloud: Cloud;
  readonly alerts: AlertsClient | null;
  /** What live servers return in addition to the contract; `alerts` is null without that API. */
  readonly reads: { readonly cloud: CloudReads; readonly alerts: AlertsReads | null };
  /** All alerts, at most 30 s old; throws if the alerts API cannot be read. */
  readonly listAlerts: () => Promise<AlertList>;
  /** The accepted changes of some services, which may explain a change of their costs. */
  readonly costChanges: (filter: AcceptedChangeFilter) => Promise<readonly AcceptedChange[]>;
  /** Lists, adds, stops, shows and posts the cost reports of channels. */
  readonly digests: DigestService;
  readonly anomalies: AnomalyQueries;
  readonly changes: ChangesQueries;
  readonly freezes: FreezeService;
  readonly schedules: ScheduleService;
  readonly who: RuleFacts;
  /** Whether a user may request a change of this service, so that they see who changed it. */
  readonly isOperatorOf: (target: Target, by: UserId) => Promise<boolean>;
  readonly organizations: Organizations;
  /** SLACK_COMMAND_PREFIX, for the commands that answers name. */
  readonly prefix: string;
  /** Whether an access list may allow all addresses. */
  readonly openToTheWorld: boolean;
}

/** The organizations of the configuration. `name` is null where there is only one. */
export type Organizations = readonly [OrganizationFacts, ...OrganizationFacts[]];

interface OrganizationFacts extends Pick<FieldContext, 'plan' | 'tier'> {
  readonly id: string;
  readonly name: string | null;
}

/** What fields depend on: the values, with the plan and tier of the organization that they name. */
export function fieldContext(
  { organizations, services }: Pick<Vocabulary, 'organizations' | 'services'>,
  given: TypedValues,
): FieldContext {
  const [service] = given.service ? findByName(services, given.service) : [];
  const own = organizations.find(({ id, name }) =>
    service ? id === service.organizationId : name === given.organization,
  );
  const { plan, tier } = own ?? organizations[0];
  // One alone is never asked for, also where it has a name.
  const names = organizations.length > 1 ? organizations.flatMap(({ name }) => name ?? []) : [];
  return { plan, tier, organizations: names, given };
}

/** The organization of a service; where it is not known, the first one. */
export function organizationFacts(
  { organizations }: Pick<CommandContext, 'organizations'>,
  { organizationId }: Pick<Service, 'organizationId'>,
): OrganizationFacts {
  return organizations.find(({ id }) => id === organizationId) ?? organizations[0];
}

/** Answers the queries about anomalies and budgets. */
interface AnomalyQueries {
  readonly anomalies: () => Promise<Answer>;
  readonly budgets: () => Promise<Answer>;
}

/** By what `change who` tells who may request a command and who approves it. */
interface RuleFacts {
  /** The policy with the freezes that users made. */
  readonly policy: () => Promise<Policy>;
  readonly people: Pick<People, 'identify' | 'someMembers'>;
  readonly discoversServices: boolean;
  readonly commands: ReadonlyMap<string, ChangeCommand>;
}

/** What answers about changes read, and what only the workflow knows or does. */
export interface ChangesQueries {
  readonly events: Log;
  readonly organization: string;
  /** The user whom a name, an id or a mention means. */
  readonly named: (word: string) => Promise<PersonLookup>;
  /** The standing approvals in force. */
  readonly standing: () => Promise<readonly Change[]>;
  /** A change as it is now, its measured effect, its next run, and the buttons of its card that this user may not press. */
  readonly shown: (change: Change, asker: Caller) => Promise<ShownChange>;
  /** Cancels it for its requester. */
  readonly cancel: (change: Change, asker: Caller) => Promise<Answer>;
  /** The last changes of a target, newest first; none for a user who may not list changes. */
  readonly latestOf: (target: Target, asker: Caller) => Promise<readonly Change[]>;
  /** The names of the commands that a user requested most. */
  readonly frequent: (by: UserId) => Promise<readonly string[]>;
  /** The changes that wait, run or have an unknown outcome, newest first, for the same users. */
  readonly openOf: (asker: Caller) => Promise<readonly Change[]>;
}

interface ShownChange {
  readonly change: Change;
  readonly hidden: readonly string[];
  readonly effect: string | null;
  readonly next: { readonly at: Date; readonly action: string } | null;
}

/** One of several readings of some words, with the values that it gives. */
export interface Reading {
  readonly label: string;
  readonly given: TypedValues;
}

/** What the first words of a line mean for a command. */
export interface Phrase {
  readonly taken: number;
  readonly given?: TypedValues;
  /** Several readings, of which the user chooses one. */
  readonly choice?: { readonly why: string; readonly readings: readonly Reading[] };
  /** Words that no value can have; shown in the form that asks for it. */
  readonly unclear?: string;
}

/** What was read so far. */
export interface PhraseState {
  readonly given: TypedValues;
  readonly vocabulary: Vocabulary;
}

export type ReadPhrase = (words: readonly string[], so: PhraseState) => Phrase | null;

export type Reworded =
  | { readonly words: string }
  | { readonly sentence: string; readonly lines: readonly string[] };

interface CommandWords {
  /** Noun and verb: `service stop`. Policy, modal, help and manifest use this name. */
  readonly name: string;
  /**
   * What a program may do with it: a query can have an effect (`change cancel`), so that its kind does not say it.
   * `none`: people only.
   */
  readonly program: 'read' | 'request' | 'none';
  /** Words of its text with an effect of their own, which no program may use. */
  readonly peopleOnly?: readonly string[];
  /** The task, as the title of its form; at most 24 characters. If missing, verb and noun are. */
  readonly title?: string;
  readonly summary: string;
  readonly examples: readonly string[];
  /** The permission that the key of the cloud API needs; if missing, it calls no such operation. */
  readonly permission?: CloudPermission;
  /** Reads what people type for this command without `key=value`, at the start of the words. */
  readonly phrase?: ReadPhrase;
  /** The words of a question in the form that the command reads; or what is asked or refused. */
  readonly reword?: (words: string, vocabulary: Vocabulary) => Reworded;
  /** Whether a field applies, given the others; if missing, all fields apply. */
  readonly hasField?: (field: string, among: FieldContext) => boolean;
  /** Whether an optional field is required for the values of the others. */
  readonly isRequired?: (field: string, among: FieldContext) => boolean;
}

export interface QueryCommand<Args = unknown> extends CommandWords {
  readonly kind: 'query';
  readonly args: z.ZodObject;
  /** Whom it is about, for the policy; if missing in its definition, the service or alert that it names. */
  readonly target: (args: Args) => Target | null;
  /** Whether it does something at once; if missing, it only answers. */
  readonly acts?: (args: Args) => boolean;
  readonly answer: (args: Args, context: CommandContext, asker: Caller) => Answer | Promise<Answer>;
  /** The submit button of the form, named by the result; if missing, `Look up`. */
  readonly submit?: (given: TypedValues) => string;
  /** The field that chooses the task; a form that is opened for one task has no input for it. */
  readonly taskField?: string;
  /** The title of the form for the given values; if missing, that of the command. */
  readonly formTitle?: (given: TypedValues) => string | undefined;
  /** Whether the line lacks so much that Signalbox opens the form instead. */
  readonly needsForm?: (given: TypedValues) => boolean;
}

/** What Signalbox applies itself, without a request to a server. */
type OwnOperation =
  | 'allow'
  | 'freeze'
  | 'unfreeze'
  | 'schedule'
  | 'schedule pause'
  | 'schedule resume'
  | 'schedule remove';

/** What follows from the arguments and the state of the target. */
type FromArguments<Args, Result> = (
  args: Args,
  before: Snapshot | null,
  context: CommandContext,
) => Result;

/** A call of the server about the body of a plan. */
type AtServer<Result> = (
  target: Target,
  body: JsonObject,
  context: CommandContext,
) => Promise<Result>;

export interface ChangeCommand<Args = unknown> extends CommandWords {
  readonly kind: 'change';
  readonly args: z.ZodObject;
  /** The API call as people read it: `PATCH state`. */
  readonly call: string;
  /** Accepts `at=` and `in=`, and `for=` if a revert is possible; if missing, none of them. */
  readonly timed?: TimingSupport;
  /**
   * The commands that this change runs later, for example at the times of a schedule. They are
   * approved with it, so that its requirement and the claim cover their rules as well.
   */
  readonly runs?: (body: JsonObject) => readonly string[];
  /** What later changes may do by its approvals: the rule of each command on each target approves it. */
  readonly covers?: (
    body: JsonObject,
    context: Pick<CommandContext, 'services'>,
  ) => readonly AllowedChange[];
  /** How the change affects the costs of its target; if missing, no cost is estimated. */
  readonly effect?: EffectKind;
  /** Every rule requires a reason: users who are blocked by the change need to read it. */
  readonly needsReason?: true;
  /** Resolves arguments that depend on the requester or the time, before the plan. */
  readonly resolveArguments?: (
    args: Args,
    context: CommandContext,
    by: UserId,
  ) => Promise<ResolvedArguments<Args>>;
  readonly target: (args: Args, context: CommandContext) => Target;
  /** The state of the target for the preview; if missing, the target has none. */
  readonly observe?: (
    args: Args,
    context: CommandContext,
  ) => TargetObservation | Promise<TargetObservation>;
  /**
   * Reads the target again right before sending, if it was read for the preview, and compares what the
   * change depends on. Null: nothing was read. Throws where a read of the contract fails, never for an optional one.
   */
  readonly compareBeforeSending?: (
    plan: Plan,
    context: CommandContext,
  ) => Promise<CurrentState | null>;
  /** Usual values that its form offers for fields that were not given. */
  readonly defaults?: (among: FieldContext, services: readonly Service[]) => TypedValues;
  /** The initial values of the form, from the current values of the target. */
  readonly prefill?: (before: Snapshot) => TypedValues;
  /** Says that the target is already as requested; null if the change has an effect, or it is unknown. */
  readonly noEffect?: (args: Args, before: Snapshot | null) => NoEffect | null;
  readonly desired: (args: Args, before: Snapshot | null) => JsonObject;
  /** Problems that concern several fields; with any of them the change is not requested. */
  readonly problems?: FromArguments<Args, readonly FieldProblem[]>;
  /** The rows of the plan, if the body has other field names than the arguments. */
  readonly rows?: FromArguments<Args, readonly PlanRow[]>;
  readonly unchanged?: (args: Args, before: Snapshot | null) => readonly string[];
  readonly warnings: FromArguments<Args, readonly string[]>;
  /** Warnings about the time from the start of a plan to its revert. */
  readonly timeWarnings?: (plan: Plan, now: Date) => readonly string[];
  /** Sends the request; missing where Signalbox applies the change itself. */
  readonly send?: AtServer<SendResult>;
  /** What Signalbox does itself, by the body of the plan; missing where `send` sends a request. */
  readonly own?: OwnOperation;
  /** Checks whether an attempt without an answer took effect; null: still unknown. */
  readonly verifyOutcome?: AtServer<SendResult | null>;
  /** The types of the entries that its request leaves in the activity log of the server, each at most once. */
  readonly activities?: readonly string[];
  /** When an accepted change is done, by optional reads; if missing, no read can show it. */
  readonly settled?: SettledRule;
  /** The command that reverts this change, with its line; missing or null if there is none. */
  readonly undo?: (
    target: Target,
    before: Snapshot | null,
    body: JsonObject,
  ) => CommandOffer | null;
  /** Why there is no such command, where more is known than that the previous values are missing. */
  readonly noUndo?: (before: Snapshot | null, body: JsonObject) => string | null;
  /** The reply contains a password, stored encrypted until the requester has seen it. */
  readonly hasSecret?: true;
  /** How people read its outcome. */
  readonly outcome: OutcomeWords;
  /** The last line of the card after success: what the reply does not prove. */
  readonly endingNote: string;
  /** Added to it while no optional read follows the target. */
  readonly unfollowedNote?: string;
}

/** How people read the outcome of a change. */
interface OutcomeWords {
  /** `stopped`, for the answers “It was stopped” and “It was not stopped”. */
  readonly done: string;
  /** `is stopping`, after the name of the target. Missing where `done` is true at once: `is frozen`. */
  readonly accepted?: string;
  /** `is scaled`, at its end; if missing, the state that the server reports. */
  readonly reached?: string;
}

/** What is known of a target when a change of it is previewed. */
export interface TargetObservation {
  readonly before: Snapshot | null;
  /** What could not be read, with the reason. */
  readonly gaps?: readonly string[];
}

/** The target of a change right before it is sent, compared with its preview. */
export type CurrentState =
  | { readonly kind: 'same' }
  | { readonly kind: 'differs'; readonly differences: readonly StateDifference[] }
  /** `isOff`: the configuration no longer allows the read, so that repeating it has no use. */
  | { readonly kind: 'unread'; readonly why: string; readonly isOff: boolean };
type ResolvedArguments<Args> =
  | { readonly ok: true; readonly args: Args }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export type Command = QueryCommand | ChangeCommand;

/** Fields that name an item have the item as their value. */
export type ResolvedValues<Shape extends z.ZodObject> = {
  [Key in keyof z.output<Shape>]: Key extends 'service'
    ? Service
    : Key extends 'pipe' | 'alert' | 'tag' | 'warehouse' | 'ask'
      ? NamedItem
      : Key extends 'scope'
        ? NamedScope
        : Key extends 'freeze'
          ? SlackFreeze
          : z.output<Shape>[Key];
};

// The list of commands has many argument types. Their only caller passes values that the schema of
// the same command parsed, so the erased type is correct.
export function queryCommand<Shape extends z.ZodObject>(
  definition: Omit<QueryCommand<ResolvedValues<Shape>>, 'kind' | 'target'> &
    Partial<Pick<QueryCommand<ResolvedValues<Shape>>, 'target'>> & { args: Shape },
): QueryCommand {
  return { target: namedTarget, ...definition, kind: 'query' } as unknown as QueryCommand;
}

/** What a query is about: the service or the alert that it names; null: neither. */
function namedTarget({ service, alert }: { service?: Service; alert?: NamedItem }): Target | null {
  if (service) return serviceTarget(service);
  return alert ? alertTarget(alert) : null;
}

export function alertTarget({ id, name }: NamedItem): Target {
  return { kind: 'alert', id, name, tags: [], warehouse: null };
}

export function changeCommand<Shape extends z.ZodObject>(
  definition: Omit<ChangeCommand<ResolvedValues<Shape>>, 'kind'> & { args: Shape },
): ChangeCommand {
  const args = definition.args.extend(timingShape(definition.timed, verbOf(definition)));
  return { ...definition, args, kind: 'change' } as unknown as ChangeCommand;
}

export function nounOf({ name }: Pick<Command, 'name'>): string {
  const end = name.indexOf(' ');
  return end === -1 ? name : name.slice(0, end);
}

export function verbOf(command: Pick<Command, 'name'>): string {
  return command.name.slice(nounOf(command).length + 1);
}

/** The task of a command, as the title of its form and the label of its button: `Stop a service`. */
export function titleOf(command: Command): string {
  const { title, kind, name } = command;
  const words = kind === 'query' ? name : `${verbOf(command)} ${nounOf(command)}`.trim();
  return title ?? upperFirst(words);
}

/** A command with its values as text, from typed words or from form fields. */
export interface TypedCommand {
  readonly command: Command;
  readonly given: TypedValues;
  readonly reason: string;
}

/** An item of a list of the server, with the words that distinguish it from others. */
export interface ListedItem extends NamedItem {
  readonly about: string;
  /** Values of other fields that follow from its choice in a form. */
  readonly fills?: TypedValues;
}

/** The lists that were read, by kind; a kind is missing if its list is unknown or not needed. */
export type ServerLists = Readonly<Partial<Record<ListedKind | 'pipe', readonly ListedItem[]>>>;

export interface Vocabulary {
  readonly commands: readonly Command[];
  readonly services: readonly Service[];
  /** Empty for commands that do not concern alerts. */
  readonly alerts: readonly NamedItem[];
  /** Missing for commands that do not concern freezes. */
  readonly freezes?: readonly SlackFreeze[];
  readonly organizations: Organizations;
  /** The lists that a form offers: those that the server may answer. */
  readonly offered?: readonly ListedKind[];
  /** The lists that were read for this command. */
  readonly lists?: ServerLists;
  /** SLACK_COMMAND_PREFIX, for workspaces in which another app has the same commands. */
  readonly prefix?: string;
  /** The clock of the person who types; missing: times are read only in the documented form. */
  readonly clock?: LocalClock | null;
  /** The services with a schedule, of which `pause` can mean either. */
  readonly scheduled?: readonly string[];
  /** An offered line is read to check it: what is asked about needs no offers. */
  readonly isCheck?: true;
  /** A price of a credit is configured. */
  readonly isPriced?: boolean;
}

export type ParseResult =
  /** `about`: the word after `help`, for example a verb of the noun. */
  | { readonly kind: 'help'; readonly noun: string; readonly about: string | null }
  | {
      readonly kind: 'intent';
      readonly command: Command;
      readonly args: Readonly<Record<string, unknown>>;
      readonly given: TypedValues;
      readonly reason: string | null;
      /** When the change runs and for how long; not part of `args`. */
      readonly timing: RequestedTiming;
    }
  | {
      readonly kind: 'incomplete';
      readonly command: Command;
      readonly given: TypedValues;
      readonly missing: readonly Field[];
      /** What the form has to ask about, as a sentence. */
      readonly unclear?: string;
    }
  | {
      readonly kind: 'misread';
      readonly sentence: string;
      /** The same problems by field, for a form that shows each at its field. */
      readonly problems: Readonly<Record<string, string>>;
      readonly offers: readonly CommandOffer[];
      /** The typed command, if it can be corrected in its form. */
      readonly asked?: { readonly command: Command; readonly given: TypedValues };
      /** The typed command, if it names an unknown item, which a list of the server may have. */
      readonly named?: TypedCommand;
    };

export type ParseProblem = ParseResult & { readonly kind: 'misread' };
export type Intent = ParseResult & { readonly kind: 'intent' };
