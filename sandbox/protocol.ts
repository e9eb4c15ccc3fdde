/**
 * What the sandbox's page and its server say to each other: JSON over HTTP below `/sandbox`.
 * The page knows no more of Slack than a person's screen shows.
 *
 *   GET  /sandbox/state?as=U…        → Screen; with `&channel=C…` that channel is read to its end
 *   GET  /sandbox/events?as=U…       → text/event-stream, `event: changed` whenever the Screen of
 *                                      that person or the panel may have changed; the page reads again
 *   POST /sandbox/command            CommandTyped    → Delivery
 *   POST /sandbox/message            MessageTyped    → Delivery
 *   POST /sandbox/action             Pressed         → Delivery
 *   POST /sandbox/suggest            Searched        → Suggestions
 *   POST /sandbox/submit             Submitted       → Delivery
 *   POST /sandbox/close              Closed          → Delivery
 *   POST /sandbox/shortcut           ShortcutUsed    → Delivery
 *   POST /sandbox/home               HomeOpened      → Delivery
 *   GET  /sandbox/panel              → Panel
 *   POST /sandbox/panel/faults       SetFault        → Panel
 *   POST /sandbox/panel/clear        {}              → Panel   (all faults off)
 *   POST /sandbox/panel/profile      SetProfile      → Panel
 */

/** Slack's own JSON, drawn but not understood by the sandbox. */
export type Json = { readonly [key: string]: unknown };

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  /** 'member' | 'guest' | 'external' (another workspace) | 'bot' | 'deactivated' */
  readonly kind: string;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly kind: 'public' | 'private' | 'dm' | 'external';
  readonly topic: string;
  readonly unread: number;
}

export interface Message {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | null;
  /** A person's id, or the id of the bot's user. */
  readonly author: string;
  readonly authorName: string;
  readonly byBot: boolean;
  readonly text: string;
  readonly blocks: readonly Json[];
  /** Only the person who looks sees it. */
  readonly ephemeral: boolean;
  readonly edited: boolean;
  readonly files: readonly { name: string; url: string; mimetype: string }[];
}

/** An open modal; the last of the list is on top. `blocks` and the rest as the bot sent them. */
export interface View {
  readonly id: string;
  readonly callbackId: string;
  readonly title: string;
  readonly submit: string | null;
  readonly close: string | null;
  readonly blocks: readonly Json[];
  /** Errors of the last submission, by block_id. */
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

export interface ClientState {
  readonly workspace: string;
  readonly me: Person;
  readonly people: readonly Person[];
  readonly botName: string;
  readonly channels: readonly Channel[];
  /** Messages of every channel that this person is in, oldest first. */
  readonly messages: readonly Message[];
  readonly views: readonly View[];
  readonly home: readonly Json[] | null;
  readonly commands: readonly SlashCommand[];
  readonly shortcuts: readonly Shortcut[];
  /** User groups, so that `<!subteam^S…>` can be drawn. */
  readonly groups: readonly { id: string; handle: string; name: string }[];
}

/** Where a block stands that is pressed or searched. */
export type Place =
  | { readonly in: 'message'; readonly channel: string; readonly ts: string }
  | { readonly in: 'view'; readonly viewId: string }
  | { readonly in: 'home' };

export interface CommandInput {
  readonly as: string;
  readonly channel: string;
  /** The whole line: `/service stop analytics-prod nightly maintenance`. */
  readonly text: string;
}

export interface MessageInput extends CommandInput {
  readonly threadTs?: string;
}

/** `element` is Slack's action payload: `{type:'button', value}`, `{type:'static_select', selected_option}` … */
export interface ActionTriggered {
  readonly as: string;
  readonly place: Place;
  readonly blockId: string;
  readonly actionId: string;
  readonly element: Json;
  /** What the inputs of the view hold at that moment: block_id → action_id → Slack's state value. */
  readonly values?: ViewValues;
}

export type ViewValues = Readonly<Record<string, Readonly<Record<string, Json>>>>;

export interface OptionsRequested {
  readonly as: string;
  readonly place: Place;
  readonly blockId: string;
  readonly actionId: string;
  readonly value: string;
}

export interface Suggestions {
  readonly options: readonly Json[];
  readonly error: string | null;
}

export interface ViewSubmission {
  readonly as: string;
  readonly viewId: string;
  readonly values: ViewValues;
}

export interface ViewClosed {
  readonly as: string;
  readonly viewId: string;
}

export interface ShortcutUsed {
  readonly as: string;
  readonly callbackId: string;
  /** Only for message shortcuts. */
  readonly channel?: string;
  readonly ts?: string;
}

export interface HomeOpening {
  readonly as: string;
}

/**
 * How the bot answered. `error` is the line that Slack would show the person, for instance
 * `/service failed with the error "operation_timeout"`; null when the bot acknowledged in time.
 */
export interface Delivery {
  readonly status: number;
  readonly ms: number;
  readonly body: string;
  readonly error: string | null;
}

/** One request that a simulator of the cloud API or of the alerts API received. */
export interface RecordedRequest {
  readonly at: string;
  readonly api: 'cloud' | 'alerts';
  /** The operation's words: 'set state', 'create service' …, or 'no such route'. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** The parsed body, or null. */
  readonly body: unknown;
  readonly status: number | null;
  readonly reply: unknown;
  readonly fault: string | null;
}

export interface FaultChoice {
  readonly name: string;
  readonly summary: string;
}

export interface SetFault {
  readonly api: 'cloud' | 'alerts';
  readonly operation: string;
  readonly fault: string;
  /** How many requests it befalls before it clears itself. */
  readonly times: number;
}

export interface SetProfile {
  readonly api: 'cloud' | 'alerts';
  readonly profile: string;
}

export interface Panel {
  /** Newest first, at most 200. */
  readonly requests: readonly RecordedRequest[];
  readonly operations: Readonly<Record<'cloud' | 'alerts', readonly string[]>>;
  readonly faults: readonly FaultChoice[];
  readonly activeFaults: readonly SetFault[];
  readonly profiles: Readonly<
    Record<'cloud' | 'alerts', { readonly now: string; readonly all: readonly string[] }>
  >;
}
