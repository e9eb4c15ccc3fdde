import type { Logger } from 'pino';
import type { Change, ChangeId, ChannelId, Position, RoleName, UserId } from '../changes/change.ts';
import type { Actor } from '../changes/outcome.ts';
import type { Refusal } from '../changes/refusal.ts';
import type { Answer } from '../intent/answers/answer.ts';
import type { ChangeCommand } from '../intent/define.ts';
import type { CommandContext } from '../intent/ports/command-context.ts';
import type { Measures } from '../observability/metrics-port.ts';
import type { Policy } from '../policy/policy-types.ts';
import type { Database, Db } from '../storage/engine/database.ts';
import type { Denial } from './denial.ts';
import type { Reminder } from './notify/reminders.ts';

/** How we came to believe who someone is; written beside every decision. */
export interface IdentityEvidence {
  readonly groups: readonly {
    readonly id: string;
    readonly size: number;
    readonly readAt: string;
  }[];
}

export type Identity =
  | { readonly ok: true; readonly actor: Actor; readonly evidence: IdentityEvidence }
  | { readonly ok: false; readonly refusal: Refusal };

export interface People {
  /**
   * Who this is, and in which roles. `fresh` asks Slack again, whatever was read before.
   * A question that Slack does not answer is the refusal `lookup-failed`, never "not a member".
   */
  identify(user: UserId, how: { readonly fresh: boolean }): Promise<Identity>;
  /** The active people of a role, or null when nobody can say just now. */
  membersOf(role: RoleName): Promise<readonly UserId[] | null>;
  /** The time zone whose clocks this person looks at, or null when nobody can say just now. */
  zoneOf(user: UserId): Promise<string | null>;
}

/** What people are shown, drawn from what is stored. Each call may fail and is tried again. */
export interface Messenger {
  postCard(change: Change, how: PostAttempt): Promise<Position>;
  redrawCard(change: Change, at: Position): Promise<void>;
  /** A line in the card's thread for the state that was entered. */
  postThreadUpdate(change: Change, at: Position, how: PostAttempt): Promise<void>;
  /** A line in the card's thread that calls whoever is waited for. */
  postReminder(change: Change, at: Position, reminder: Reminder, how: PostAttempt): Promise<void>;
  /** The same as in the thread, to a requester who is not in the channel of the card. */
  messageRequester(change: Change, at: Position, how: PostAttempt): Promise<void>;
  /** A line in the card's thread: why nothing takes it back by itself, and how a person can. */
  postRevertStopped(
    change: Change,
    at: Position,
    why: RevertStopReason,
    how: PostAttempt,
  ): Promise<void>;
  /** What the change did to the costs, measured days later; a line in the card's thread. */
  postCostEffect(text: string, at: Position, how: PostAttempt): Promise<void>;
  /** A line in the card's thread: glass was broken, or somebody has looked at that since. */
  postBreakGlassUpdate(
    change: Change,
    at: Position,
    news: BreakGlassEvent,
    how: PostAttempt,
  ): Promise<void>;
  /** In its thread, with a button: what a freeze held up may be taken back now. */
  postUnfreezeOffer(change: Change, at: Position, how: PostAttempt): Promise<void>;
  /** A line for those who look after the trail: how it ended, or what became of its glass. */
  postAuditLine(change: Change, how: PostAttempt, news?: BreakGlassEvent): Promise<void>;
  /** A private answer to a click: the change as it is now, or why not. */
  answerClick(replyTo: ReplyTo, answer: ClickOutcome): Promise<void>;
  /** A private answer to a press below something unusual. */
  answerIncidentClick(replyTo: ReplyTo, pressed: IncidentClickOutcome): Promise<void>;
  /** For everyone in a channel, or below a message of it. What surely was not posted is a value. */
  postToChannel(to: ChannelId, answer: Answer, threadTs?: string): Promise<PostResult>;
  /** In place of what was posted there before. */
  updateMessage(at: Position, answer: Answer): Promise<PostResult>;
  /** Each channel by its name or id, as it is at this moment. */
  findChannels(wanted: readonly string[]): Promise<ReadonlyMap<string, ChannelLookup>>;
  messageUser(user: UserId, answer: Answer): Promise<void>;
  /** A line for those who look after the bot, where a channel is named for them. */
  notifyOperators(sentence: string): Promise<void>;
  /** The newest line of ours among those that matches; null where there is none. */
  findOwnMessage(pattern: RegExp): Promise<NoteLookup>;
  /** What one person finds in the app's own tab, in place of what stood there. */
  showHome(user: UserId, found: HomeContent): Promise<void>;
}

export const BREAK_GLASS_EVENTS = ['glass', 'reviewed'] as const;
export type BreakGlassEvent = (typeof BREAK_GLASS_EVENTS)[number];

/** `again`: an earlier try was not answered, so that its message may stand there already. */
export interface PostAttempt {
  readonly again: boolean;
}

export type PostResult =
  | { readonly ok: true; readonly at: Position }
  /** `again`: only too early; the same may go well in a moment. */
  | { readonly ok: false; readonly why: string; readonly again: boolean };

export interface Channel {
  readonly id: ChannelId;
  readonly name: string;
  /** People of another workspace are in it, or are invited. */
  readonly outside: boolean;
  /** Signalbox is in it, and may post there. */
  readonly joined: boolean;
}

/** A channel that Slack does not tell of is not taken for one that nobody else reads. */
export type ChannelLookup =
  | { readonly ok: true; readonly room: Channel }
  | { readonly ok: false; readonly why: 'no-such-channel' | 'lookup-failed' };

/** Where a private answer may go; `url` lives for half an hour and is never logged. */
export interface ReplyTo {
  readonly url: string | null;
  readonly user: UserId;
  readonly channel: string | null;
  /** The click came from a message that only its presser sees, which the answer replaces. */
  readonly replaces: boolean;
  /** The click came from the app's own tab, which then shows the change as it was before. */
  readonly home: boolean;
}

export type ClickOutcome =
  | { readonly ok: true; readonly verb: Verb; readonly change: Change }
  | { readonly ok: false; readonly verb: Verb; readonly denial: Denial };

export const INCIDENT_VERBS = ['expected', 'mute'] as const;

/** A press on a button below something unusual; `id` says of what, and lends no right. */
export interface IncidentClick {
  readonly verb: (typeof INCIDENT_VERBS)[number];
  readonly id: string;
  readonly by: UserId;
  /** Under which it is stored: it is handled in the same commit as what it decides. */
  readonly key: string;
}

/** What can be done about something unusual. */
export interface IncidentService {
  readonly press: (press: IncidentClick) => Promise<IncidentClickOutcome>;
  readonly details: (look: Pick<IncidentClick, 'id' | 'by'>) => Promise<IncidentClickOutcome>;
}

export type IncidentClickOutcome =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly denial: Denial };

export const VERBS = [
  'confirm',
  'approve',
  'reject',
  'cancel',
  'break-glass',
  'review',
  'happened',
  'did-not-happen',
] as const;
export type Verb = (typeof VERBS)[number];

/** Whom a name means; several people may have the same. */
export type PersonLookup =
  | { readonly ok: true; readonly user: UserId }
  | { readonly ok: false; readonly why: 'nobody' | 'several' | 'lookup-failed' };

/** A channel that we may not read is not one in which nothing stands. */
export type NoteLookup =
  | { readonly ok: true; readonly text: string | null }
  | { readonly ok: false; readonly why: string };

/** Everything the workflow stands on. Nothing in it is state: that is in the database. */
export interface WorkflowContext {
  readonly database: Database;
  readonly auditKey: Buffer | null;
  readonly trail: Trail;
  readonly policy: Policy;
  readonly commands: ReadonlyMap<string, ChangeCommand>;
  readonly commandContext: () => CommandContext;
  readonly people: People;
  readonly messenger: Messenger;
  readonly log: Logger;
  readonly now: () => Date;
  readonly newId: () => ChangeId;
  /** This process, for leases. */
  readonly instance: string;
  /** Called with the name of a lane that has something to do. */
  readonly wake: () => void;
  readonly refreshDirectory: () => void;
  readonly incidents: IncidentService;
  readonly measures: Measures;
}
/** What executions ask of the audit trail before they send anything. */

export interface Trail {
  /**
   * Why nothing is executed: the trail is not as it was written, as this replica or another one
   * found. Null: it is, as far as anybody looked. Inside a transaction it is asked on that.
   */
  readonly trouble: (db: Db) => Promise<string | null>;
  /** Notes the end of the trail outside the database, where there is such a place. */
  readonly mark: () => Promise<void>;
}
/** What lies before one person. No change is in two lists, but one that its requester may decide. */

export interface HomeLists {
  /** What this person may decide now; first what expires first. */
  readonly waiting: readonly Change[];
  /** Asked for by this person, and not begun. */
  readonly mine: readonly Change[];
  readonly running: readonly Change[];
  /** Over, with broken glass that nobody has looked at, and that this person may look at. */
  readonly toReview: readonly Change[];
  readonly recent: readonly Change[];
  /** More is pending than was looked at, so that what waits may be more as well. */
  readonly more: boolean;
  /** When this was read: what runs has moved on by the time somebody looks. */
  readonly at: Date;
}
export type HomeContent =
  | { readonly ok: true; readonly actor: Actor; readonly desk: HomeLists }
  | { readonly ok: false; readonly refusal: Refusal };
/** Why nothing will take a change back by itself, for good. */

export const REVERT_STOP_REASONS = ['moved', 'gone', 'late', 'unclear', 'restored'] as const;
export type RevertStopReason = (typeof REVERT_STOP_REASONS)[number];
