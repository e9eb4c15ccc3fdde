import { randomBytes } from 'node:crypto';
import type { DeliverToApp } from './delivery/answer.ts';
import type { StoredFile } from './files.ts';
import type { ResponseUrl } from './interactions/response-urls.ts';
import type { Trigger } from './interactions/triggers.ts';
import type { AppManifest } from './manifest.ts';
import type { MentionRecord } from './mentions.ts';
import type { StoredMessage } from './messages.ts';
import type { StoredView } from './views.ts';
import type { WebApiCall } from './web-api/calls.ts';
import type { ArmedFault } from './web-api/faults.ts';
import type { Workspace } from './workspace.ts';

/** All that the stand-in remembers. It is thrown away with the process, as a sandbox should. */
export interface SlackState {
  readonly workspace: Workspace;
  readonly manifest: AppManifest;
  readonly tokens: { readonly bot: string; readonly app: string };
  readonly now: () => Date;
  /** Lets time pass between two attempts of delivering an event. */
  readonly wait: (ms: number) => Promise<void>;
  readonly messages: StoredMessage[];
  /** Open modals of each person, the last on top. */
  readonly modals: Map<string, StoredView[]>;
  readonly homes: Map<string, StoredView>;
  readonly triggers: Map<string, Trigger>;
  readonly responseUrls: Map<string, ResponseUrl>;
  readonly files: Map<string, StoredFile>;
  readonly mentions: MentionRecord[];
  readonly calls: WebApiCall[];
  readonly faults: ArmedFault[];
  readonly events: SentEvent[];
  /** Until when each person has read each channel: `U… C…` → ts. */
  readonly read: Map<string, string>;
  readonly watchers: Set<() => void>;
  /** The address of the stand-in itself; known once it listens. */
  url: string;
  deliverToApp: DeliverToApp;
  /** A way in for one socket; null when the app is reached by HTTP. */
  ticket: () => string | null;
  lastMicros: number;
}

/** An event that was offered to the app, with every attempt of delivering it. */
export interface SentEvent {
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly attempts: { readonly retryNum: number; readonly delivered: boolean }[];
}

/** Slack's message ids are times that never repeat, whatever the clock does. */
export function stamp(slack: SlackState): string {
  const micros = Math.max(slack.now().getTime() * 1000, slack.lastMicros + 1);
  slack.lastMicros = micros;
  return `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, '0')}`;
}

export function seconds(slack: SlackState): number {
  return Math.floor(slack.now().getTime() / 1000);
}

export function freshId(prefix: string): string {
  return `${prefix}${randomBytes(5).toString('hex').toUpperCase()}`;
}

/** Tells everyone who looks that their screen may have changed. */
export function changed(slack: SlackState): void {
  for (const watcher of slack.watchers) watcher();
}
