import { randomBytes } from 'node:crypto';
import type { DeliverToApp } from './delivery/delivery.ts';
import type { AppManifest } from './manifest.ts';
import type {
  MentionRecord,
  ResponseUrl,
  SentEvent,
  StoredFile,
  StoredMessage,
  StoredView,
  Trigger,
  UserInteraction,
  WebApiCall,
} from './records.ts';
import type { PendingSlackFault } from './web-api/faults.ts';
import type { Member, Workspace } from './workspace/workspace.ts';

/** Slackbot, which calls the app's MCP server for a person. */
export interface Slackbot {
  readonly hear: (person: Member, sentence: string) => Promise<void>;
  /** The person presses a button of a question about consent. */
  readonly decide: (person: Member, question: StoredMessage, actionId: string) => Promise<void>;
}

/** Everything that the simulator stores. It is lost when the process ends. */
export interface SlackState {
  readonly workspace: Workspace;
  readonly manifest: AppManifest;
  readonly tokens: {
    readonly bot: string;
    readonly app: string;
    /** The scopes of the app-level token. */
    appScopes: readonly string[];
  };
  readonly now: () => Date;
  readonly triggerTimeoutMs: number;
  /** Waits between two attempts to deliver an event. */
  readonly wait: (ms: number) => Promise<void>;
  readonly messages: StoredMessage[];
  /** The open modal of each person. */
  readonly modals: Map<string, StoredView>;
  readonly homes: Map<string, StoredView>;
  readonly triggers: Map<string, Trigger>;
  readonly responseUrls: Map<string, ResponseUrl>;
  readonly files: Map<string, StoredFile>;
  readonly mentions: MentionRecord[];
  readonly calls: WebApiCall[];
  readonly interactions: UserInteraction[];
  readonly faults: PendingSlackFault[];
  readonly events: SentEvent[];
  /** The last message that each person has read in each channel: `U… C…` → ts. */
  readonly read: Map<string, string>;
  readonly watchers: Set<() => void>;
  /** The address of the simulator; empty until it listens. */
  url: string;
  deliverToApp: DeliverToApp;
  /** Returns the ticket for one socket connection; null when Socket Mode is off. */
  issueSocketTicket: () => string | null;
  /** False: every call of the Web API loses its connection, without effect. */
  reachable: boolean;
  /** How long a message may be edited, in minutes; null: always. A setting of the workspace. */
  editMinutes: number | null;
  /** The app is no longer installed: every call with its bot token is refused. */
  isUninstalled: boolean;
  /** Null: no MCP server is connected. */
  slackbot: Slackbot | null;
  lastMicros: number;
}

/** The next message id. Slack's ids are times that never repeat, even when the clock stands. */
export function nextTs(slack: SlackState): string {
  const micros = Math.max(slack.now().getTime() * 1000, slack.lastMicros + 1);
  slack.lastMicros = micros;
  return `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, '0')}`;
}

export function newId(prefix: string): string {
  return `${prefix}${randomBytes(5).toString('hex').toUpperCase()}`;
}

/** Notifies every open page that its client state may have changed. */
export function notifyWatchers(slack: SlackState): void {
  for (const watcher of slack.watchers) watcher();
}
