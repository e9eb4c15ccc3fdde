import type { Json } from '../json.ts';
import type { ViewValues } from '../protocol.ts';

export interface StoredMessage {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | null;
  readonly author: string;
  readonly byBot: boolean;
  text: string;
  blocks: Json[];
  metadata: unknown;
  readonly fileIds: readonly string[];
  /** The only person who sees the message; null when everyone in the channel does. */
  readonly ephemeralFor: string | null;
  /** The time of the app's last update. Slack shows no "(edited)" for such an update. */
  updatedTs: string | null;
}

/** The modal that is open for one person, or that person's Home tab. */
export interface StoredView {
  readonly id: string;
  readonly person: string;
  readonly type: 'modal' | 'home';
  /** The view as the app sent it: title, submit, callback_id, private_metadata and so on. */
  content: Json;
  blocks: Json[];
  hash: string;
  /** The input values at the last action or submission. */
  values: ViewValues;
  errors: Readonly<Record<string, string>>;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  title: string;
  readonly length: number;
  content: Uint8Array | null;
  completed: boolean;
}

/** A trigger_id, which allows the app to open one modal for the person who caused it. */
export interface Trigger {
  readonly person: string;
  readonly issuedAt: number;
  used: boolean;
}

/** The interaction to which an app replies, in its acknowledgement or through the response_url. */
export interface ReplyTarget {
  readonly person: string;
  readonly channel: string;
  readonly threadTs: string | null;
  /** The message that contains the pressed element; null for a slash command. */
  readonly message: StoredMessage | null;
  /** The command that the person typed; null once the channel has seen it. */
  typed: string | null;
}

export interface ResponseUrl {
  readonly target: ReplyTarget;
  readonly issuedAt: number;
  uses: number;
}

/** One mention in a message, and the ids of the people whom Slack notifies about it. */
export interface MentionRecord {
  readonly channel: string;
  readonly ts: string;
  readonly via: 'post' | 'update';
  readonly kind: 'user' | 'group' | 'channel' | 'here' | 'everyone';
  readonly target: string;
  readonly notified: readonly string[];
}

/** A command or a button that a person used. */
export interface UserInteraction {
  readonly person: string;
  /** The command without its arguments, the action_id, or `submit` and the callback_id. */
  readonly name: string;
  readonly at: Date;
}

/** One call of the Web API with its arguments and its reply. */
export interface WebApiCall {
  readonly method: string;
  readonly at: Date;
  readonly args: Json;
  /** The HTTP status; null when the caller got no answer. */
  readonly status: number | null;
  readonly reply: Json | null;
}

/** An event that Slack sent to the app, with every delivery attempt. */
export interface SentEvent {
  readonly id: string;
  readonly payload: Json;
  readonly attempts: { readonly retryNum: number; readonly delivered: boolean }[];
}
