import type { Logger } from 'pino';
import type { Change, ChangeId, ChannelId, Position, RoleName, UserId } from '../changes/change.ts';
import type { Actor } from '../changes/outcome.ts';
import type { Refusal } from '../changes/refusal.ts';
import type { Answer } from '../intent/answers/answer.ts';
import type { ChangeCommand, Reach } from '../intent/define.ts';
import type { Measures } from '../observability/metrics-port.ts';
import type { Policy } from '../policy/policy-types.ts';
import type { Database } from '../storage/engine/database.ts';
import type { Trail } from './audit-trail/trail.ts';
import type { Denial } from './denial.ts';
import type { Reminder } from './notify/reminders.ts';
import type { Found } from './queries/home-queries.ts';
import type { Kept } from './revert/reverts.ts';

/** How we came to believe who someone is; written beside every decision. */
export interface Evidence {
  readonly groups: readonly {
    readonly id: string;
    readonly size: number;
    readonly readAt: string;
  }[];
}

export type Identity =
  | { readonly ok: true; readonly actor: Actor; readonly evidence: Evidence }
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
  postCard(change: Change, how: Posted): Promise<Position>;
  redrawCard(change: Change, at: Position): Promise<void>;
  /** A line in the card's thread for the state that was entered. */
  tellThread(change: Change, at: Position, how: Posted): Promise<void>;
  /** A line in the card's thread that calls whoever is waited for. */
  remind(change: Change, at: Position, reminder: Reminder, how: Posted): Promise<void>;
  /** The same as in the thread, to a requester who is not in the channel of the card. */
  tellRequester(change: Change, at: Position, how: Posted): Promise<void>;
  /** A line in the card's thread: why nothing takes it back by itself, and how a person can. */
  tellKept(change: Change, at: Position, why: Kept, how: Posted): Promise<void>;
  /** What the change did to the costs, measured days later; a line in the card's thread. */
  tellEffect(text: string, at: Position, how: Posted): Promise<void>;
  /** A line in the card's thread: glass was broken, or somebody has looked at that since. */
  tellGlass(change: Change, at: Position, news: GlassNews, how: Posted): Promise<void>;
  /** In its thread, with a button: what a freeze held up may be taken back now. */
  askAnew(change: Change, at: Position, how: Posted): Promise<void>;
  /** A line for those who look after the trail: how it ended, or what became of its glass. */
  tellAudit(change: Change, how: Posted, news?: GlassNews): Promise<void>;
  /** A private answer to a click: the change as it is now, or why not. */
  answer(replyTo: ReplyTo, answer: Clicked): Promise<void>;
  /** A private answer to a press below something unusual. */
  answerPress(replyTo: ReplyTo, pressed: IncidentPressed): Promise<void>;
  /** For everyone in a channel, or below a message of it. What surely was not posted is a value. */
  postAnswer(to: ChannelId, answer: Answer, threadTs?: string): Promise<Posting>;
  /** In place of what was posted there before. */
  redrawAnswer(at: Position, answer: Answer): Promise<Posting>;
  /** Each channel by its name or id, as it is at this moment. */
  findRooms(wanted: readonly string[]): Promise<ReadonlyMap<string, RoomFound>>;
  tellPerson(user: UserId, answer: Answer): Promise<void>;
  /** A line for those who look after the bot, where a channel is named for them. */
  tellKeepers(sentence: string): Promise<void>;
  /** The newest line of ours among those that matches; null where there is none. */
  findNote(pattern: RegExp): Promise<NoteFound>;
  /** What one person finds in the app's own tab, in place of what stood there. */
  showHome(user: UserId, found: Found): Promise<void>;
}

export const GLASS_NEWS = ['glass', 'reviewed'] as const;
export type GlassNews = (typeof GLASS_NEWS)[number];

/** `again`: an earlier try was not answered, so that its message may stand there already. */
export interface Posted {
  readonly again: boolean;
}

export type Posting =
  | { readonly ok: true; readonly at: Position }
  /** `again`: only too early; the same may go well in a moment. */
  | { readonly ok: false; readonly why: string; readonly again: boolean };

export interface Room {
  readonly id: ChannelId;
  readonly name: string;
  /** People of another workspace are in it, or are invited. */
  readonly outside: boolean;
  /** Signalbox is in it, and may post there. */
  readonly joined: boolean;
}

/** A channel that Slack does not tell of is not taken for one that nobody else reads. */
export type RoomFound =
  | { readonly ok: true; readonly room: Room }
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

export type Clicked =
  | { readonly ok: true; readonly verb: Verb; readonly change: Change }
  | { readonly ok: false; readonly verb: Verb; readonly denial: Denial };

export const INCIDENT_VERBS = ['expected', 'mute'] as const;

/** A press on a button below something unusual; `id` says of what, and lends no right. */
export interface IncidentPress {
  readonly verb: (typeof INCIDENT_VERBS)[number];
  readonly id: string;
  readonly by: UserId;
  /** Under which it is stored: it is handled in the same commit as what it decides. */
  readonly key: string;
}

/** What can be done about something unusual. */
export interface Incidents {
  readonly press: (press: IncidentPress) => Promise<IncidentPressed>;
  readonly details: (look: Pick<IncidentPress, 'id' | 'by'>) => Promise<IncidentPressed>;
}

export type IncidentPressed =
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
export type PersonNamed =
  | { readonly ok: true; readonly user: UserId }
  | { readonly ok: false; readonly why: 'nobody' | 'several' | 'lookup-failed' };

/** A channel that we may not read is not one in which nothing stands. */
export type NoteFound =
  | { readonly ok: true; readonly text: string | null }
  | { readonly ok: false; readonly why: string };

/** Everything the workflow stands on. Nothing in it is state: that is in the database. */
export interface World {
  readonly database: Database;
  readonly auditKey: Buffer | null;
  readonly trail: Trail;
  readonly policy: Policy;
  readonly commands: ReadonlyMap<string, ChangeCommand>;
  readonly reach: () => Reach;
  readonly people: People;
  readonly messenger: Messenger;
  readonly log: Logger;
  readonly now: () => Date;
  readonly newId: () => ChangeId;
  /** This process, for leases. */
  readonly instance: string;
  /** Called with the name of a lane that has something to do. */
  readonly wake: () => void;
  readonly learned: () => void;
  readonly incidents: Incidents;
  readonly measures: Measures;
}
