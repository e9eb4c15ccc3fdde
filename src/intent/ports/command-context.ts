import type { AlertList, AlertsClient } from '../../alerts/client.ts';
import type { ChannelId, UserId } from '../../changes/change.ts';
import type { CloudClient } from '../../cloud/client.ts';
import type { Span } from '../../costs/calendar/calendar.ts';
import type { CostReading } from '../../costs/ledger/costs-read.ts';
import type { Service } from '../../directory/directory.ts';
import type { Answer } from '../answers/answer.ts';
import type { FieldContext } from '../arguments/arguments.ts';
import type { FreezeService, Scope } from '../arguments/freezes.ts';
import type { ListRequest, LogRequest } from './changes-queries.ts';

/** What a command may use to look and to act. */

export interface CommandContext {
  readonly cloud: CloudClient;
  readonly alerts: AlertsClient | null;
  /** Every alert, as it was at most half a minute ago; throws where it cannot be read. */
  readonly listAlerts: () => Promise<AlertList>;
  /** Costs of UTC days, both ends included, as they were at most a quarter of an hour ago. */
  readonly costs: (span: Span) => Promise<CostReading>;
  /** Lists, adds, stops, shows and posts the cost reports of channels. */
  readonly digests: DigestService;
  readonly anomalies: AnomalyQueries;
  /** Lists, shows and cancels changes, and reads the audit trail. */
  readonly changes: ChangesQueries;
  readonly freezes: FreezeService;
  readonly who: WhoQueries;
  readonly services: readonly Service[];
  readonly organization: Omit<FieldContext, 'given'>;
  /** Whether an address list may let everybody in. */
  readonly openToTheWorld: boolean;
  readonly now: () => Date;
}
/** Who asks, and in which channel; no channel from a home tab or in the app's own messages. */

export interface Caller {
  readonly by: UserId;
  readonly channel: ChannelId | null;
}
/** What the watch over costs knows, for whoever asks. */

export interface AnomalyQueries {
  readonly anomalies: () => Promise<Answer>;
  /** How often it would have posted in so many days of the organisation's own past. */
  readonly backtest: (days: number) => Promise<Answer>;
  readonly budgets: () => Promise<Answer>;
}
/** Which command, and on what: one service, those of a scope, or null where nothing is named. */

export interface WhoQuestion {
  readonly command: string;
  readonly scope: Scope | null;
}
/** Says who may ask for a command and who decides, as things are at this moment. */

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
/** What somebody wants done about cost digests; null where nothing was said of it. */

export interface DigestRequest {
  readonly what: (typeof DIGEST_ACTIONS)[number];
  /** A channel as people write it, or the id of one digest. */
  readonly which: string | null;
  /** As in the configuration file, and judged by the same schema. */
  readonly options: Readonly<Record<string, unknown>>;
}
export type DigestService = (wish: DigestRequest, asker: Caller) => Promise<Answer>;

export interface ChangesQueries {
  readonly list: (wish: ListRequest, asker: Caller) => Promise<Answer>;
  readonly show: (id: string, asker: Caller) => Promise<Answer>;
  readonly cancel: (id: string, asker: Caller) => Promise<Answer>;
  readonly log: (wish: LogRequest, asker: Caller) => Promise<Answer>;
}
