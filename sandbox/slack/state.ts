import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../json.ts';
import { type DeliverToApp, undelivered } from './delivery/delivery.ts';
import { readManifest } from './manifest.ts';
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
import { sandboxWorkspace } from './workspace/sandbox-workspace.ts';
import type { Member, Workspace } from './workspace/workspace.ts';

/** Slackbot, which calls the app's MCP server for a person. */
export interface Slackbot {
  readonly hear: (person: Member, sentence: string) => Promise<void>;
  /** The person presses a button of a question about consent. */
  readonly decide: (person: Member, question: StoredMessage, actionId: string) => Promise<void>;
}

/** What of the options the simulator stores. */
export interface StateOptions {
  readonly now?: () => Date;
  readonly workspace?: Workspace;
  /** Slack's app manifest v2. */
  readonly manifest: Json;
  /** How long a trigger opens a modal, by `now`; 3000 ms by default. */
  readonly triggerTimeoutMs?: number;
  /** Waits between two attempts to deliver an event; by default in real time. */
  readonly wait?: (ms: number) => Promise<void>;
}

/** Everything that the simulator stores. It is lost when the process ends. */
export type SlackState = ReturnType<typeof initialState>;

export function initialState(options: StateOptions, stopping: AbortSignal) {
  const workspace = structuredClone(options.workspace ?? sandboxWorkspace);
  return {
    workspace,
    manifest: readManifest(options.manifest),
    /** Of this start: it refuses an app that was started with another Slack on the same port. */
    tokens: {
      bot: `xoxb-1-${randomBytes(12).toString('hex')}`,
      app: `xapp-1-${workspace.appId}-1-${randomBytes(12).toString('hex')}`,
      /** The scopes of the app-level token. */
      appScopes: ['connections:write'],
    },
    now: options.now ?? (() => new Date()),
    triggerTimeoutMs: options.triggerTimeoutMs ?? 3000,
    /** Waits between two attempts to deliver an event. */
    wait: options.wait ?? ((ms: number) => waitUntilStop(ms, stopping)),
    messages: [] as StoredMessage[],
    /** The open modal of each person. */
    modals: new Map<string, StoredView>(),
    homes: new Map<string, StoredView>(),
    triggers: new Map<string, Trigger>(),
    responseUrls: new Map<string, ResponseUrl>(),
    files: new Map<string, StoredFile>(),
    mentions: [] as MentionRecord[],
    calls: [] as WebApiCall[],
    interactions: [] as UserInteraction[],
    faults: [] as PendingSlackFault[],
    events: [] as SentEvent[],
    /** The last message that each person has read in each channel: `U… C…` → ts. */
    read: new Map<string, string>(),
    watchers: new Set<() => void>(),
    /** The address of the simulator; empty until it listens. */
    url: '',
    deliverToApp: (async () => undelivered) as DeliverToApp,
    /** Returns the ticket for one socket connection; null when Socket Mode is off. */
    issueSocketTicket: (): string | null => null,
    /** False: every call of the Web API loses its connection, without effect. */
    reachable: true,
    /** The app is no longer installed: every call with its bot token is refused. */
    isUninstalled: false,
    /** How long a message may be edited, in minutes; null: always. A setting of the workspace. */
    editMinutes: null as number | null,
    /** Null: no MCP server is connected. */
    slackbot: null as Slackbot | null,
    lastMicros: 0,
  };
}

async function waitUntilStop(ms: number, stopping: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal: stopping, ref: false });
  } catch (error) {
    // After the stop, the next delivery attempt fails and is the last one.
    if (!stopping.aborted) throw error;
  }
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
