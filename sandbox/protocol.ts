/**
 * The messages between the page of the sandbox and its server: JSON over HTTP below `/sandbox`.
 * The page gets only what Slack's own client shows to one person.
 *
 *   GET  /sandbox/state?as=U…        → PageState; `&channel=C…` marks that channel as read
 *   GET  /sandbox/events?as=U…       → text/event-stream with `event: changed` when that person's
 *                                      ClientState or the panel may have changed
 *   POST /sandbox/command            requests.command  → Delivery
 *   POST /sandbox/message            requests.message  → Delivery
 *   POST /sandbox/action             requests.action   → Delivery
 *   POST /sandbox/suggest            requests.suggest  → Suggestions
 *   POST /sandbox/submit             requests.submit   → Delivery
 *   POST /sandbox/close              requests.close    → Delivery
 *   POST /sandbox/shortcut           requests.shortcut → Delivery
 *   POST /sandbox/home               requests.home     → Delivery
 *   GET  /sandbox/panel              → Panel
 *   POST /sandbox/panel/faults       ActiveFault       → Panel
 *   POST /sandbox/panel/clear        {}                → Panel, without active faults
 *   POST /sandbox/panel/alert        AlertTurn         → Panel, after the delivery of the webhook
 *   GET  /sandbox/clock              → ClockState
 *   POST /sandbox/clock              ClockMoveChoice   → ClockState, when the move begins
 *   GET  /sandbox/guide              → GuideProgress
 */
import { z } from 'zod';
import { isJson, type Json } from './json.ts';

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly kind: 'member' | 'guest' | 'external' | 'bot' | 'deactivated';
  /** For example `Europe/Berlin`. */
  readonly timezone: string;
  /** The id in the organization, which a mention can name. */
  readonly secondId?: string;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly kind: 'public' | 'private' | 'dm' | 'external';
  readonly topic: string;
  /** The unread messages, without replies in threads. */
  readonly unread: number;
  /** The unread messages that notify this person: mentions, and all direct messages. */
  readonly notifications: number;
}

export interface Message {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | null;
  /** The id of a person or of the bot user. */
  readonly author: string;
  readonly authorName: string;
  readonly byBot: boolean;
  readonly text: string;
  readonly blocks: readonly Json[];
  /** True when only this person sees the message. */
  readonly ephemeral: boolean;
  readonly files: readonly { name: string; url: string; mimetype: string }[];
}

/** An open modal, with blocks and texts as the bot sent them. */
export interface View {
  readonly id: string;
  readonly callbackId: string;
  readonly title: string;
  readonly submit: string | null;
  readonly close: string | null;
  readonly blocks: readonly Json[];
  /** The errors of the last submission, by block_id. */
  readonly errors: Readonly<Record<string, string>>;
}

export interface SlashCommand {
  readonly command: string;
  readonly description: string;
  readonly usageHint: string;
}

export interface Shortcut {
  readonly callbackId: string;
  readonly name: string;
  readonly description: string;
  readonly kind: 'global' | 'message';
}

/** Everything that Slack's client shows to one person. */
export interface ClientState {
  readonly workspace: string;
  readonly me: Person;
  readonly people: readonly Person[];
  readonly botName: string;
  readonly channels: readonly Channel[];
  /** The messages of every channel of this person, oldest first. */
  readonly messages: readonly Message[];
  /** The open modal, or nothing. */
  readonly views: readonly View[];
  readonly home: readonly Json[] | null;
  readonly commands: readonly SlashCommand[];
  readonly shortcuts: readonly Shortcut[];
  /** The user groups, for mentions such as `<!subteam^S…>`. */
  readonly groups: readonly { id: string; handle: string; name: string }[];
}

/** What the page reads: the client state, and the time of the sandbox. */
export interface PageState extends ClientState {
  /** ISO 8601. */
  readonly now: string;
}

/** How far a person can move the clock. */
export const ClockMoveChoice = z.strictObject({
  move: z.enum(['5-minutes', '1-hour', '1-day', 'next-morning']),
});
export type ClockMove = z.infer<typeof ClockMoveChoice>['move'];

export interface ClockState {
  /** ISO 8601. */
  readonly now: string;
  readonly isMoving: boolean;
}

/** The steps of the guide, in their order. */
export type GuideStepId = 'request' | 'refusal' | 'approve' | 'unknown' | 'costs' | 'ask';

export interface GuideProgress {
  readonly done: readonly GuideStepId[];
}

const Id = z.string().min(1).max(255);
const Text = z.string().max(40_000);
const AnyJson = z.custom<Json>(isJson);

/** The message or view that contains a block. */
const Place = z.discriminatedUnion('in', [
  z.object({ in: z.literal('message'), channel: Id, ts: Id }),
  z.object({ in: z.literal('view'), viewId: Id }),
  z.object({ in: z.literal('home') }),
]);
export type Place = Readonly<z.infer<typeof Place>>;

/** Slack's state of the inputs of a surface: block_id → action_id → value. */
const ViewValues: z.ZodType<ViewValues> = z.record(z.string(), z.record(z.string(), AnyJson));
export type ViewValues = Readonly<Record<string, Readonly<Record<string, Json>>>>;

const elementFields = { as: Id, place: Place, blockId: Id, actionId: Id };

/** The requests of the page. They come from a browser, so the server validates each of them. */
export const requests = {
  /** `text` is the whole line: `/service stop analytics-prod nightly maintenance`. */
  command: z.object({ as: Id, channel: Id, text: Text }),
  message: z.object({ as: Id, channel: Id, text: Text, threadTs: Id.exactOptional() }),
  /** `element` has the fields of Slack's action: `{type: 'button', value}` and so on. */
  action: z.object({ ...elementFields, element: AnyJson, values: ViewValues.exactOptional() }),
  suggest: z.object({ ...elementFields, value: z.string().max(3000) }),
  submit: z.object({ as: Id, viewId: Id, values: ViewValues }),
  close: z.object({ as: Id, viewId: Id }),
  /** Only a message shortcut has `channel` and `ts`. */
  shortcut: z.object({
    as: Id,
    callbackId: Id,
    channel: Id.exactOptional(),
    ts: Id.exactOptional(),
  }),
  home: z.object({ as: Id }),
};

export type Requests = {
  readonly [Path in keyof typeof requests]: z.infer<(typeof requests)[Path]>;
};

/** What a person can do on the page, by path. Each of these requests returns a Delivery. */
export type Interactions = Omit<Requests, 'suggest'>;

export interface Suggestions {
  readonly options: readonly Json[];
  readonly error: string | null;
}

/**
 * The bot's response to an interaction. `error` is the text that Slack shows, for example
 * `/service failed with the error "operation_timeout"`; null when the bot acknowledged in time.
 */
export interface Delivery {
  readonly status: number;
  readonly ms: number;
  readonly body: string;
  readonly error: string | null;
}

export type Api = ActiveFault['api'];

/** One request that the simulator of an API received, as the panel lists it. */
export interface RecordedRequest {
  /** The number of the request among those of its API. */
  readonly key: number;
  readonly at: string;
  readonly api: Api;
  /** The name of the operation, for example 'set state', or 'no such route'. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly status: number | null;
  readonly fault: string | null;
}

export interface FaultChoice {
  readonly name: string;
  readonly summary: string;
}

export const ActiveFault = z.strictObject({
  api: z.enum(['cloud', 'alerts']),
  operation: z.string(),
  fault: z.string(),
  /** The number of requests to which the fault still applies. */
  times: z.number(),
});
export type ActiveFault = Readonly<z.infer<typeof ActiveFault>>;

/** Lets an alert fire or recover. */
export const AlertTurn = z.strictObject({ id: z.string(), to: z.enum(['firing', 'resolved']) });

export interface Panel {
  /** Newest first, at most 200. */
  readonly requests: readonly RecordedRequest[];
  readonly operations: Readonly<Record<Api, readonly string[]>>;
  /** By their names. */
  readonly alerts: readonly {
    readonly id: string;
    readonly name: string;
    readonly state: string;
  }[];
  readonly faults: readonly FaultChoice[];
  readonly activeFaults: readonly ActiveFault[];
}
