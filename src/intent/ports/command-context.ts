import type { DigestService } from '../../costs/digest-options.ts';
import type { CostContext } from '../../costs/question-scope.ts';
import type { AcceptedChange, AcceptedChangeFilter } from '../../costs/why.ts';
import type { Answer, Caller } from '../../domain/answer.ts';
import type { Change, State, Target, UserId } from '../../domain/change.ts';
import type { FreezeService, Scope } from '../../domain/freezes.ts';
import type { ScheduleService } from '../../domain/schedules.ts';
import type { Service } from '../../domain/targets.ts';
import type { AlertList, AlertsClient } from '../../servers/alerts.ts';
import type { AlertsReads } from '../../servers/alerts-reads.ts';
import type { CloudClient } from '../../servers/cloud.ts';
import type { CloudReads } from '../../servers/cloud-reads.ts';
import type { FieldContext } from '../arguments/arguments.ts';

/** Everything that a command may read and call. */
export interface CommandContext extends CostContext {
  readonly cloud: CloudClient;
  readonly alerts: AlertsClient | null;
  /** What live servers return in addition to the contract; `alerts` is null without that API. */
  readonly reads: { readonly cloud: CloudReads; readonly alerts: AlertsReads | null };
  /** All alerts, at most 30 s old; throws if the alerts API cannot be read. */
  readonly listAlerts: () => Promise<AlertList>;
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
  readonly organization: Omit<FieldContext, 'given'>;
  /** SLACK_COMMAND_PREFIX, for the commands that answers name. */
  readonly prefix: string;
  /** Whether an access list may allow all addresses. */
  readonly openToTheWorld: boolean;
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

export interface ChangesQueries {
  readonly list: (request: ListRequest, asker: Caller) => Promise<Answer>;
  readonly show: (id: string, asker: Caller) => Promise<Answer>;
  readonly cancel: (id: string, asker: Caller) => Promise<Answer>;
  readonly log: (request: LogRequest, asker: Caller) => Promise<Answer>;
  /** The last changes of a target, newest first; none for a user who may not list changes. */
  readonly latestOf: (target: Target, asker: Caller) => Promise<readonly Change[]>;
}

/** A day in UTC (`today` and `yesterday` as well), or a duration before now. */
export type PastTime =
  | { readonly day: string }
  | { readonly daysAgo: 0 | 1 }
  | { readonly agoMs: number };

export const CHANGE_LISTS = ['pending', 'mine', 'all', 'review'] as const;

/** The filters of a list of changes; null: no filter. */
export interface ListRequest {
  /** Null: all changes with these filters, or `pending` without a filter. */
  readonly which: (typeof CHANGE_LISTS)[number] | null;
  readonly service: Service | null;
  /** `me`, an id, a mention or a name; workflow resolves it to a user. */
  readonly by: string | null;
  readonly state: State | null;
  /** Requested since. */
  readonly since: PastTime | null;
  /** The last change of the previous page. */
  readonly before: string | null;
}

/** The filters of an audit trail search; null: no filter. */
export interface LogRequest {
  /** `me`, an id, a mention or a name; workflow resolves it to a user. */
  readonly by: string | null;
  readonly command: string | null;
  readonly target: string | null;
  readonly state: State | null;
  readonly since: PastTime | null;
  readonly until: PastTime | null;
  /** The number of the last event of the previous page. */
  readonly before: number | null;
}
