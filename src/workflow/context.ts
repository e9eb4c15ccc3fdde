import type { Logger } from 'pino';
import type { Measures } from '../base/log.ts';
import type { Occurrence } from '../base/weekly-times.ts';
import type { ChangeCommand, CommandContext, servicesOverview } from '../commands/index.ts';
import type { Answer, AnswerAction, InlinePart, Poster } from '../domain/answer.ts';
import type {
  Actor,
  Change,
  ChangeId,
  ChannelId,
  EstimateCost,
  Position,
  Refusal,
  UserId,
  Verb,
} from '../domain/change.ts';
import type { Denial, People } from '../domain/gate.ts';
import type { IncidentClickOutcome, IncidentService } from '../domain/incidents.ts';
import type { Policy } from '../domain/policy.ts';
import type { ServiceSchedule } from '../domain/schedules.ts';
import type { Service } from '../domain/targets.ts';
import type { Log } from '../log/index.ts';
import type { PriceList } from '../maths/money.ts';
import type { Store } from '../storage/index.ts';

/**
 * Shows stored state to users. A rejected promise means that the message may not have been shown;
 * its job then tries it again, unless Slack refused the message (`PostRefused`).
 */
export interface Messenger extends Poster {
  postCard(change: Change, attempt: PostAttempt): Promise<Position>;
  /**
   * Redraws the card or a copy of it. `schedule`: what became of the schedule that the change made. `revision`: names
   * what is drawn without an event of the change. Returns the place of a reply that shows it where Slack does not let the
   * card be edited.
   */
  redrawCard(
    change: Change,
    at: Position,
    schedule: ScheduleNews | null,
    revision: string,
  ): Promise<'drawn' | 'deleted' | Position>;
  /** Posts into a thread that the request of this claim is about to be sent, with the mark of `claimed`. */
  postSending(change: Change, at: Position, mark: AttemptMark): Promise<void>;
  /**
   * Reads a card and its thread in one call. Null: the card was deleted. Throws where Slack does not answer:
   * unreadable is not absent.
   */
  readThread(at: Position): Promise<SeenThread | null>;
  /** The same without the thread, from another limit of Slack: for drawings, which are more frequent than requests. */
  readCard(at: Position): Promise<SeenThread | null>;
  /**
   * Reads the marks of own messages in each channel, back to `since`, and in the threads of these cards. Throws where
   * a channel or a thread is not readable.
   */
  readMarks(since: Date, cards: readonly Position[]): Promise<readonly SeenMark[]>;
  /** Redraws the card of a change that the log has lost; with `other`, a card of a change that stands on another one. */
  drawLost(change: ChangeId, at: Position, other: CardMark | null): Promise<void>;
  /** Posts the card into the direct messages of a user. */
  postDirectCard(change: Change, user: UserId, attempt: PostAttempt): Promise<Position>;
  /** Posts the preview of a draft, with its buttons, into the direct messages of its requester; once. */
  postPreview(draft: Change): Promise<void>;
  /** Returns the users who are not members of a channel; null where Slack does not answer. */
  absentAmong(channel: ChannelId, users: readonly UserId[]): Promise<readonly UserId[] | null>;
  /** Posts the state that the change entered into the thread of its card. */
  readonly postThreadUpdate: PostInThread;
  /** Mentions the users who have to act, in the thread of the card. */
  readonly postReminder: PostInThread<[Reminder]>;
  /** Sends the thread update directly to a requester who is not in the channel of the card. Null: no card stands. */
  readonly messageRequester: PostInThread<[], Position | null>;
  /** Posts into the thread how the target ended, by the optional reads after the send. */
  readonly postFollowUp: PostInThread;
  /** Posts into the thread why Signalbox does not revert the change, with a button to revert it. */
  readonly postRevertStopped: PostInThread<[RevertStopReason]>;
  /** Posts a text into the thread of a card, for example the measured cost effect. */
  postThreadNote(text: string, at: Position, attempt: PostAttempt): Promise<void>;
  /** Reminds the requester of a schedule of its end, with a button to request it again. */
  readonly postScheduleReminder: PostInThread<
    [ending: { readonly until: Date; readonly hasExpired: boolean }]
  >;
  /** Posts into the thread that break-glass was used, or that its use was reviewed. */
  readonly postBreakGlassUpdate: PostInThread<[BreakGlassEvent]>;
  /** Posts into the thread that the freeze which blocked the revert has ended, with a button. */
  readonly postUnfreezeOffer: PostInThread;
  /** Posts the outcome, or the break-glass event, into the audit channel, with the mark of the change. */
  postAuditLine(change: Change, attempt: PostAttempt, about: AuditedEvent): Promise<void>;
  /** Shows the user of a stored press a notice if the press is not answered within 2 s. */
  expectAnswer(press: ReceivedPress, isHandled: () => Promise<boolean>): void;
  answerPress(press: ReceivedPress, outcome: PressOutcome): Promise<void>;
  /** The sentences of a refusal, for a message that the log keeps until it is posted. */
  refusalLine(denial: Denial): readonly InlinePart[];
  answerIncidentPress(press: ReceivedPress, outcome: IncidentClickOutcome): Promise<void>;
  /** Why names of channels cannot be resolved now, or null. Shown at the readiness probe. */
  lookupProblem(): string | null;
  messageUser(user: UserId, answer: Answer): Promise<void>;
  /** Posts into the audit channel, where one is configured. */
  notifyOperators(
    sentence: string,
    attempt: PostAttempt,
    extras: { readonly line: readonly InlinePart[]; readonly actions: readonly AnswerAction[] },
  ): Promise<void>;
  /** Replaces the content of the user's App Home tab. */
  showHome(user: UserId, content: HomeContent): Promise<void>;
}

/** Posts something about a change, the card of which is at this place. */
type PostInThread<About extends readonly unknown[] = [], At = Position> = (
  change: Change,
  at: At,
  ...rest: [...About, attempt: PostAttempt]
) => Promise<void>;

/** A schedule as its card shows it, whose runs have no cards: what ran last, and what is next. */
export interface ScheduleNews {
  /** The last event of the schedule, which the card shows. */
  readonly mark: Mark;
  readonly zone: string;
  readonly isPaused: boolean;
  readonly hasEnded: boolean;
  readonly next: Occurrence | null;
  readonly last: {
    readonly occurrence: Occurrence;
    /** The change that ran it; null: it was skipped. */
    readonly run: Pick<Change, 'id' | 'state'> | null;
    readonly skipped: string | null;
  } | null;
}

/** `again`: an earlier attempt got no answer, so that its message may exist already. */
export interface PostAttempt {
  readonly again: boolean;
}

/** Why Signalbox does not revert a timed change. */
export const REVERT_STOP_REASONS = ['moved', 'gone', 'late', 'unclear', 'restored'] as const;
export type RevertStopReason = (typeof REVERT_STOP_REASONS)[number];
export type Reminder = 'waiting' | 'escalated' | 'unknown';
export type BreakGlassEvent = 'used' | 'reviewed';

/** What a line of the audit channel is about. */
export interface AuditedEvent {
  /** Null: the outcome of the change. */
  readonly event: BreakGlassEvent | null;
  /** Names the last claim of the change; null: it was never claimed. */
  readonly nonce: string | null;
}

/** The last event that a message shows: its number in its stream, and its hash. */
export interface Mark {
  readonly version: number;
  readonly hash: string;
}

/** The mark of a card, with what it shows beside its events; missing: nothing. */
export interface CardMark extends Mark {
  readonly revision?: string;
}

/** The mark of `claimed` in the note before a request. */
export interface AttemptMark extends Mark {
  readonly nonce: string;
}

/** A card and the notes of its thread, in the order of Slack. A card without a mark shows nothing of the log. */
export interface SeenThread {
  readonly card: CardMark | null;
  readonly notes: readonly AttemptMark[];
}

/** A message of Signalbox in a channel: a card, its copy, or the line of an execution in the audit channel. */
export interface SeenMark extends CardMark {
  readonly change: ChangeId;
  /** The schedule of which the change is a run. */
  readonly schedule: ChangeId | null;
  readonly at: Position;
  /** Whether the message is a card or a copy of one. */
  readonly isCard: boolean;
  /** Whether it shows a freeze that is in force. */
  readonly isFreeze: boolean;
}

/** A press that Slack delivered, while this process knows where its answer goes. */
export interface ReceivedPress {
  readonly key: string;
  readonly at: Date;
  readonly by: UserId;
  readonly replyTo: ReplyTo;
}

export type PressOutcome =
  /** `sawMore`: the person approved a card that showed more than the change has now. */
  | { readonly ok: true; readonly verb: Verb; readonly change: Change; readonly sawMore?: true }
  | { readonly ok: false; readonly verb: Verb; readonly denial: Denial };

/** The lists of App Home. A change is in one list only, unless its requester may decide it. */
export interface HomeLists {
  /** Pending changes that the user may approve, ordered by expiry. */
  readonly waiting: readonly Change[];
  /** The user's requests that have not started. */
  readonly mine: readonly Change[];
  readonly running: readonly Change[];
  /** Unknown outcomes, then ended break-glass changes that the user may review. */
  readonly toAnswer: readonly { readonly change: Change; readonly mayAnswer: boolean }[];
  readonly recent: readonly Change[];
  /** The schedules of services; none for a user who may not list them. */
  readonly schedules: readonly ServiceSchedule[];
  /** The standing approvals in force that the user may revoke. */
  readonly standing: readonly Change[];
  /** The services with what needs attention first; null for a user who may not list them. */
  readonly services: ReturnType<typeof servicesOverview> | null;
  /** Null for a user who may not ask for costs, and while none are stored. */
  readonly costs: {
    readonly title: string;
    readonly lines: readonly string[];
    readonly asOf: Date;
  } | null;
  /** More changes are pending than were read, so that `waiting` may be incomplete. */
  readonly more: boolean;
  readonly at: Date;
}

export type HomeContent =
  | { readonly ok: true; readonly actor: Actor; readonly lists: HomeLists }
  | { readonly ok: false; readonly refusal: Refusal };

/** Where the private answer to a press goes. */
export interface ReplyTo {
  /** Slack's response URL: valid for 30 minutes, never logged or stored. Null: none was sent. */
  readonly url: string | null;
  readonly user: UserId;
  readonly channel: ChannelId | null;
  /** The direct message with the button, which the URL cannot replace. Null for any other. */
  readonly ts: string | null;
  /** The thread of the button: Slack shows the answer there only if it is named. */
  readonly thread: string | null;
  /** The press came from a private message, which the answer replaces. */
  readonly replaces: boolean;
  /** The press came from the App Home tab, which is redrawn afterwards. */
  readonly home: boolean;
}

/**
 * What it takes to identify a user, decide, record the decision and notify users.
 * It holds no state: all state is in the log.
 */
export interface DecisionContext {
  readonly store: Store;
  /** The signed log, which decides. */
  readonly events: Log;
  /** The first organization of the configuration: that of targets that name none, such as alerts and freezes. */
  readonly organization: string;
  /** The ids of all organizations. */
  readonly organizations: readonly string[];
  /** The policy of the configuration file, without the freezes that users made. */
  readonly policy: Policy;
  /** The hash of that file. */
  readonly configuration: string;
  /** The prices of a credit; null: figures are in credits only. */
  readonly prices: PriceList | null;
  /** The current directory, which alone assigns tags and warehouses to targets. */
  readonly services: () => readonly Service[];
  /** With the optional reads, the server decides about the services that the configuration omits. */
  readonly discoversServices: boolean;
  readonly commands: ReadonlyMap<string, ChangeCommand>;
  readonly people: People;
  readonly messenger: Messenger;
  /** Who gets cards as direct messages. */
  readonly directCards: DirectRecipients;
  /** When approvers are reminded: shares of the time from the request to its expiry, the least first. */
  readonly reminders: readonly number[];
  readonly log: Logger;
  readonly now: () => Date;
  readonly newId: () => ChangeId;
  /** The id of this process, which owns its leases. */
  readonly instance: string;
  /** Makes the loop claim jobs soon, because there is new work. */
  readonly wake: () => void;
  readonly measures: Measures;
}

/** The users who get the card of a pending change as a direct message. */
export interface DirectRecipients {
  /** Whether they get it with every request, or only where the channel did not get the card. */
  readonly onRequest: boolean;
  readonly of: (change: Change) => Promise<readonly UserId[]>;
}

/** What it takes, in addition, to plan, estimate and run changes. */
export interface WorkflowContext extends DecisionContext {
  /** `organization`: requests are sent to this one. */
  readonly commandContext: (organization?: string) => CommandContext;
  readonly refreshDirectory: () => void;
  /** Returns the directory with what an organization lists now; without it, its discovered services have no facts. */
  readonly verifyServices: (organization: string) => Promise<readonly Service[]>;
  readonly incidents: IncidentService;
  readonly estimateCost: EstimateCost;
  /** What App Home shows about costs, from the stored report; null if it was not read yet. */
  readonly homeCosts: () => Promise<HomeLists['costs']>;
}

/** Returns the measured cost effect of a change as a sentence; null while there is none. */
export type MeasureEffect = (change: Change) => Promise<string | null>;
