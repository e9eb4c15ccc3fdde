// The answer of a query as data, its words, and the port that posts it.

import { z } from 'zod';
import {
  At,
  type Change,
  type ChannelId,
  type Position,
  type Press,
  type Refusal,
  User,
  type UserId,
} from './change.ts';

/** The answer of a query, independent of Slack. Texts are literal, never markup. */
export interface Answer {
  /** The heading; empty for a line without one. */
  readonly title: string;
  readonly parts: readonly AnswerPart[];
  /** Drawn first, as the card of the change without the hidden buttons. */
  readonly change?: { readonly change: Change; readonly hidden: readonly string[] };
  /** Shown instead of the answer: the sentence of the refusal. */
  readonly refused?: {
    readonly refusal: Refusal;
    readonly change: Change | null;
    readonly press: Press | null;
  };
}

/** A number that sorts by `value` and reads as `text`; null (unknown) sorts last. */
export interface Figure {
  readonly value: number | null;
  readonly text: string;
}

export type Cell = string | number | Date | Figure | null;

const text = z.string();

/** A part of a line: text, bold text, a user, a user group, or a time in the reader's zone. */
export const InlinePart = z.union([
  text,
  z.object({ bold: text }),
  z.object({ group: text }),
  z.object({ at: At }),
  z.object({ user: User }),
]);
export type InlinePart = z.infer<typeof InlinePart>;

/** The value of a fact: a cell, or parts on one line. */
export type FactValue = Cell | readonly InlinePart[];

/** A button that enters a command as the user who presses it; it grants no permission. */
const CommandOffer = z.object({ label: text, line: text });
export type CommandOffer = z.infer<typeof CommandOffer>;
const offers = z.array(CommandOffer).readonly();

/** A button with an id as its value; it grants no permission either. */
export const AnswerAction = z.object({ id: text, label: text, value: text });
export type AnswerAction = z.infer<typeof AnswerAction>;

/** The parts that the log can keep as they are. */
const SharedPart = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text }),
  z.object({ kind: z.literal('lines'), lines: z.array(z.array(InlinePart).readonly()).readonly() }),
  z.object({ kind: z.literal('offers'), offers }),
  z.object({ kind: z.literal('actions'), actions: z.array(AnswerAction).readonly() }),
  /** For more offers than fit as buttons, and for tables, whose rows have no buttons. */
  z.object({ kind: z.literal('menu'), label: text, offers }),
]);

const StoredFact = z.union([text, z.number(), z.null(), z.array(InlinePart).readonly()]);

/** A message that the log keeps until it is posted. */
export const StoredAnswer = z.object({
  title: text,
  parts: z
    .array(
      z.discriminatedUnion('kind', [
        SharedPart,
        z.object({ kind: z.literal('note'), text }),
        z.object({ kind: z.literal('facts'), facts: z.array(z.tuple([text, StoredFact])) }),
      ]),
    )
    .readonly(),
}) satisfies z.ZodType<Answer>;

export interface ChartPoint {
  readonly label: string;
  readonly value: number;
}

export type AnswerPart =
  | z.infer<typeof SharedPart>
  /** `asOf` is the time of the shown data; `next` is drawn last. Both are in the reader's zone. */
  | {
      readonly kind: 'note';
      readonly text: string;
      readonly asOf?: Date | null;
      readonly next?: { readonly label: string; readonly at: Date };
    }
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [string, FactValue])[] }
  | {
      readonly kind: 'table';
      /** The caption of the table; if missing, the title of the answer. */
      readonly caption?: string;
      readonly columns: readonly string[];
      readonly rows: readonly (readonly Cell[])[];
    }
  /** One value for each label, in order. Values that are not final are a series of their own. */
  | {
      readonly kind: 'chart';
      readonly title: string;
      readonly unit: string;
      /** What the labels mean. */
      readonly axis: string;
      readonly points: readonly ChartPoint[];
    }
  /** The two answers about an unknown outcome, as buttons. */
  | { readonly kind: 'outcome'; readonly change: Change }
  /** Uploaded as a file: to the thread of the request, or to a direct message. */
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  /** One row for each thing, with a button that shows it. */
  | { readonly kind: 'rows'; readonly rows: readonly AnswerRow[] }
  /** A row for each change: state, requester and time, with a button that shows it. */
  | { readonly kind: 'changes'; readonly changes: readonly Change[] }
  /** A menu whose choices are ids for one of Signalbox's own buttons. */
  | {
      readonly kind: 'choices';
      readonly id: string;
      readonly label: string;
      readonly choices: readonly Pick<AnswerAction, 'label' | 'value'>[];
    };

export interface AnswerRow {
  readonly text: string;
  /** Users, times and words of Signalbox; names from outside belong into `text`. */
  readonly about: readonly InlinePart[];
  /** The command of its button; null: there is nothing more to show. */
  readonly show: string | null;
  /** The label of the button; *Show* if missing. */
  readonly label?: string;
}

/** An answer with one text, and buttons for the given commands. */
export function textAnswer(
  title: string,
  text: string,
  offers: readonly CommandOffer[] = [],
): Answer {
  const buttons: readonly AnswerPart[] = offers.length > 0 ? [{ kind: 'offers', offers }] : [];
  return { title, parts: [{ kind: 'text', text }, ...buttons] };
}

/** `1 event`, `2 events`; `many` is given where the plural is irregular or more words follow. */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `2026-11-20 09:30 UTC`, to the minute; for texts without Slack's own dates. */
export function utcStamp(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * A command line as a user types it: `('db-', 'service list')` → `/db-service list`. Every command
 * that Signalbox shows goes through here, so that it has the prefix of SLACK_COMMAND_PREFIX.
 */
export function slashCommand(prefix: string, line: string): string {
  return `/${prefix}${line}`;
}

/** A text from outside on one line of at most `most` characters. */
export function oneLineOf(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** The user who asks, and the channel; null in the home tab and in the app's own messages. */
export interface Caller {
  readonly by: UserId;
  readonly channel: ChannelId | null;
}

/** The user whom a name or id means. Several users may have the same name. */
export type PersonLookup =
  | { readonly ok: true; readonly user: UserId }
  | { readonly ok: false; readonly why: 'nobody' | 'several' | 'lookup-failed' };

/** Posts in channels what other rooms compose. Slack implements it. */
export interface Poster {
  /**
   * Posts into a channel or thread. A definite refusal is a value; no answer throws. A mark, of at most 200 characters,
   * is invisible, and `findPost` finds the message by it.
   */
  postToChannel(
    to: ChannelId,
    answer: Answer,
    threadTs?: string,
    mark?: string,
  ): Promise<PostResult>;
  /** Returns where the own message with this mark is; null: it is not there. Throws where that cannot be read. */
  findPost(place: PostPlace, mark: string): Promise<Position | null>;
  /** Returns where the answer is shown: for a message that Slack lets be edited no more, a reply to it. */
  updateMessage(at: Position, answer: Answer): Promise<PostResult>;
  /** Looks up each channel by its name or id. */
  findChannels(wanted: readonly string[]): Promise<ReadonlyMap<string, ChannelLookup>>;
}

/** Where a post may be: in a channel since a time, or in a thread of it. */
export interface PostPlace {
  readonly channel: ChannelId;
  readonly threadTs: string | undefined;
  readonly since: Date;
}

export type PostResult =
  | { readonly ok: true; readonly at: Position }
  /** `again`: the refusal is temporary, so that a later attempt may succeed. */
  | { readonly ok: false; readonly why: string; readonly again: boolean };

/** Slack refused to post or update a message, which had no effect. */
export class PostRefused extends Error {
  /** In words, for example `the channel is archived (is_archived)`. */
  readonly why: string;
  /** When a later attempt may succeed; null: the same message would be refused again. */
  readonly retryAfterMs: number | null;
  /** Every message is refused until a person changes the installation of the app. */
  readonly isOfApp: boolean;

  constructor(why: string, retryAfterMs: number | null, cause: unknown, isOfApp = false) {
    super(`Slack refused a message: ${why}`, { cause });
    this.why = why;
    this.retryAfterMs = retryAfterMs;
    this.isOfApp = isOfApp;
  }
}

export interface Channel {
  readonly id: ChannelId;
  readonly name: string;
  /** Shared with another workspace, or an invitation is pending. */
  readonly outside: boolean;
  /** Signalbox is a member and may post. */
  readonly joined: boolean;
}

/** A failed lookup never counts as a channel without external members. */
export type ChannelLookup =
  | { readonly ok: true; readonly room: Channel }
  | { readonly ok: false; readonly why: 'no-such-channel' | 'lookup-failed' };
