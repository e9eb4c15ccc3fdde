import type { AlertList, AlertsClient } from '../../alerts/client.ts';
import type { AlertsReads } from '../../alerts/reads.ts';
import type { Change, ChannelId, Target, UserId } from '../../changes/change.ts';
import type { CloudClient } from '../../cloud/client.ts';
import type { CloudReads } from '../../cloud/reads/cloud-reads.ts';
import type { Span } from '../../costs/calendar/calendar.ts';
import type { CostReading } from '../../costs/ledger/costs-read.ts';
import type { Service } from '../../directory/directory.ts';
import type { Answer } from '../answers/answer.ts';
import type { FieldContext } from '../arguments/arguments.ts';
import type { FreezeService, Scope } from '../arguments/freezes.ts';
import type { ListRequest, LogRequest } from './changes-queries.ts';
import type { ScheduleService } from './schedule-service.ts';

/** Everything that a command may read and call. */
export interface CommandContext {
  readonly cloud: CloudClient;
  readonly alerts: AlertsClient | null;
  /** What live servers return in addition to the contract; `alerts` is null without that API. */
  readonly reads: { readonly cloud: CloudReads; readonly alerts: AlertsReads | null };
  /** All alerts, at most 30 s old; throws if the alerts API cannot be read. */
  readonly listAlerts: () => Promise<AlertList>;
  /** Costs of UTC days, both ends included; at most 15 min old. */
  readonly costs: (span: Span) => Promise<CostReading>;
  /** Reads the months that can still change again, a few times per user and 10 minutes. */
  readonly refreshCosts: (span: Span, by: UserId) => Promise<CostRefresh>;
  /** The accepted changes of some services, which may explain a change of their costs. */
  readonly costChanges: (filter: AcceptedChangeFilter) => Promise<readonly AcceptedChange[]>;
  /** Lists, adds, stops, shows and posts the cost reports of channels. */
  readonly digests: DigestService;
  readonly anomalies: AnomalyQueries;
  /** Lists, shows and cancels changes, and reads the audit trail. */
  readonly changes: ChangesQueries;
  readonly freezes: FreezeService;
  readonly schedules: ScheduleService;
  readonly who: WhoQueries;
  /** Whether a user may request a change of this service, so that they see who changed it. */
  readonly isOperatorOf: (target: Target, by: UserId) => Promise<boolean>;
  readonly services: readonly Service[];
  readonly organization: Omit<FieldContext, 'given'>;
  /** SLACK_COMMAND_PREFIX, for the commands that answers name. */
  readonly prefix: string;
  /** Whether an access list may allow all addresses. */
  readonly openToTheWorld: boolean;
  readonly now: () => Date;
}

type CostRefresh =
  | { readonly ok: true; readonly read: CostReading }
  /** Too many refreshes; the time at which the next one is possible. */
  | { readonly ok: false; readonly again: Date };

export interface AcceptedChangeFilter {
  readonly services: readonly { readonly id: string; readonly name: string }[];
  /** UTC days. */
  readonly span: Span;
}

export interface AcceptedChange {
  readonly id: string;
  readonly by: UserId;
  readonly at: Date;
  /** `Scale analytics-prod · Max memory 64 → 128` */
  readonly text: string;
}

/** The user who asks, and the channel; null in the home tab and in the app's own messages. */
export interface Caller {
  readonly by: UserId;
  readonly channel: ChannelId | null;
}

/** Answers the queries about anomalies and budgets. */
interface AnomalyQueries {
  readonly anomalies: () => Promise<Answer>;
  readonly budgets: () => Promise<Answer>;
}

/** A command and its target: a service, a scope, or null if no target is named. */
export interface WhoQuestion {
  readonly command: string;
  readonly scope: Scope | null;
}

/** Answers who may request a command and who approves it, by the current policy. */
export type WhoQueries = (question: WhoQuestion, asker: Caller) => Promise<Answer>;
export const DIGEST_ACTIONS = [
  'list',
  'add',
  'remove',
  'pause',
  'resume',
  'now',
  'preview',
] as const;

/** One action on cost digests; null for a value that was not given. */
export interface DigestRequest {
  readonly what: (typeof DIGEST_ACTIONS)[number];
  /** A channel name or id, or the id of one digest. */
  readonly which: string | null;
  /** Whether the caller confirmed a removal. */
  readonly isConfirmed: boolean;
  /** The same keys as in the configuration file, validated by the same schema. */
  readonly options: Readonly<Record<string, unknown>>;
}
export type DigestService = (request: DigestRequest, asker: Caller) => Promise<Answer>;

export interface ChangesQueries {
  readonly list: (request: ListRequest, asker: Caller) => Promise<Answer>;
  readonly show: (id: string, asker: Caller) => Promise<Answer>;
  readonly cancel: (id: string, asker: Caller) => Promise<Answer>;
  readonly log: (request: LogRequest, asker: Caller) => Promise<Answer>;
  /** The last changes of a target, newest first; none for a user who may not list changes. */
  readonly latestOf: (target: Target, asker: Caller) => Promise<readonly Change[]>;
}
