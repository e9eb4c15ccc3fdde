import type { Answer, AnswerAction, InlinePart, Poster } from '../../domain/answer.ts';
import type {
  Actor,
  Change,
  ChangeId,
  ChannelId,
  Position,
  Refusal,
  UserId,
} from '../../domain/change.ts';
import type { IncidentClickOutcome } from '../../domain/incidents.ts';
import type { ServiceSchedule } from '../../domain/schedules.ts';
import type { BreakGlassEvent, Reminder } from '../../storage/old/outbox-message.ts';
import type { ClickOutcome, ReplyTo } from './clicks.ts';

export type { BreakGlassEvent, Reminder } from '../../storage/old/outbox-message.ts';

/**
 * Shows stored state to users. A rejected promise means that the message may not have been shown;
 * the outbox then retries it, unless Slack refused the message (`PostRefused`).
 */
export interface Messenger extends Poster {
  postCard(change: Change, attempt: PostAttempt): Promise<Position>;
  redrawCard(change: Change, at: Position): Promise<'drawn' | 'deleted'>;
  /** Posts the card into the direct messages of a user. */
  postDirectCard(change: Change, user: UserId, attempt: PostAttempt): Promise<Position>;
  /** Returns the users who are not members of a channel; null where Slack does not answer. */
  absentAmong(channel: ChannelId, users: readonly UserId[]): Promise<readonly UserId[] | null>;
  /** Posts the state that the change entered into the thread of its card. */
  postThreadUpdate(change: Change, at: Position, attempt: PostAttempt): Promise<void>;
  /** Mentions the users who have to act, in the thread of the card. */
  postReminder(
    change: Change,
    at: Position,
    reminder: Reminder,
    attempt: PostAttempt,
  ): Promise<void>;
  /** Sends the thread update directly to a requester who is not in the channel of the card. */
  messageRequester(change: Change, at: Position, attempt: PostAttempt): Promise<void>;
  /** Posts into the thread how the target ended, by the optional reads after the send. */
  postFollowUp(change: Change, at: Position, attempt: PostAttempt): Promise<void>;
  /** Posts into the thread why Signalbox does not revert the change, with a button to revert it. */
  postRevertStopped(
    change: Change,
    at: Position,
    why: RevertStopReason,
    attempt: PostAttempt,
  ): Promise<void>;
  /** Posts a text into the thread of a card, for example the measured cost effect. */
  postThreadNote(text: string, at: Position, attempt: PostAttempt): Promise<void>;
  /** Reminds the requester of a schedule of its end, with a button to request it again. */
  postScheduleReminder(
    change: Change,
    at: Position,
    ending: { readonly until: Date; readonly hasExpired: boolean },
    attempt: PostAttempt,
  ): Promise<void>;
  /** Posts into the thread that break-glass was used, or that its use was reviewed. */
  postBreakGlassUpdate(
    change: Change,
    at: Position,
    event: BreakGlassEvent,
    attempt: PostAttempt,
  ): Promise<void>;
  /** Posts into the thread that the freeze which blocked the revert has ended, with a button. */
  postUnfreezeOffer(change: Change, at: Position, attempt: PostAttempt): Promise<void>;
  /** Posts the outcome, or the break-glass event, into the audit channel. */
  postAuditLine(change: Change, attempt: PostAttempt, event?: BreakGlassEvent): Promise<void>;
  /** Shows the user of a stored click a notice if the click is not handled within 2 s. */
  expectAnswer(
    click: { readonly key: string; readonly replyTo: ReplyTo },
    isHandled: () => Promise<boolean>,
  ): void;
  answerClick(replyTo: ReplyTo, outcome: ClickOutcome, click: HandledClick): Promise<void>;
  answerIncidentClick(
    replyTo: ReplyTo,
    outcome: IncidentClickOutcome,
    click: HandledClick,
  ): Promise<void>;
  /** Why names of channels cannot be resolved now, or null. Shown at the readiness probe. */
  lookupProblem(): string | null;
  messageUser(user: UserId, answer: Answer): Promise<void>;
  /** Posts into the audit channel, where one is configured. */
  notifyOperators(
    sentence: string,
    attempt: PostAttempt,
    extras: { readonly line: readonly InlinePart[]; readonly actions: readonly AnswerAction[] },
  ): Promise<void>;
  /** Returns the matching texts among the newest messages of Signalbox in the audit channel. */
  findOwnMessages(pattern: RegExp): Promise<OwnTexts>;
  /** Replaces the content of the user's App Home tab. */
  showHome(user: UserId, content: HomeContent): Promise<void>;
}

/** A click that is answered: its key in the inbox, and when it was received. */
export interface HandledClick {
  readonly key: string;
  readonly at: Date;
}

/** `again`: an earlier attempt got no answer, so that its message may exist already. */
export interface PostAttempt {
  readonly again: boolean;
}

/** Why Signalbox does not revert a timed change. */
export const REVERT_STOP_REASONS = [
  'moved',
  'gone',
  'late',
  'unclear',
  'restored',
  'gap-accepted',
  'upgraded',
  'audit-mismatch',
] as const;
export type RevertStopReason = (typeof REVERT_STOP_REASONS)[number];
/** A channel that cannot be read is not a channel without messages. */
export type OwnTexts = { readonly ok: true; readonly texts: readonly string[] } | UnreadChannel;

export interface UnreadChannel {
  readonly ok: false;
  readonly why: string;
  /** A later attempt may succeed without a fix: a rate limit, or no answer. */
  readonly passing: boolean;
}

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
  /** Null for a user who may not ask for costs, and while none are stored. */
  readonly costs: {
    readonly title: string;
    readonly lines: readonly string[];
    readonly asOf: Date;
  } | null;
  /** Changes whose rows are damaged, in none of the lists. */
  readonly unreadable: readonly ChangeId[];
  /** More changes are pending than were read, so that `waiting` may be incomplete. */
  readonly more: boolean;
  readonly at: Date;
}

export type HomeContent =
  | { readonly ok: true; readonly actor: Actor; readonly lists: HomeLists }
  | { readonly ok: false; readonly refusal: Refusal };
