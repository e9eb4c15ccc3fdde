import type { Logger } from 'pino';
import type { Measures } from './base/log.ts';
import type { Clock } from './base/time.ts';
import type { AuditKey } from './log/old/key-ring.ts';
import type { Config, ConfigProblem } from './ops/config.ts';
import type { Database } from './storage/old/database.ts';
import type { PostedAnchors } from './workflow/old/anchors.ts';
import type { Messenger } from './workflow/old/messenger-port.ts';

export interface AppOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
  readonly now?: () => Date;
  /** Replaces the system clock of the API clients. */
  readonly clock?: Clock;
  /** Slack refuses new Socket Mode connections, and only a person can change that. */
  readonly onAppTokenRefused?: (problem: ConfigProblem) => void;
  /** Ends a start that is not complete; it resolves as refused, without a problem that is new. */
  readonly cancel?: AbortSignal;
  /** Aborts requests that still run shortly before the process exits; their outcome is unknown. */
  readonly leaving?: AbortSignal | undefined;
  /** Keeps serving for this long after readiness ends, until load balancers have noticed. */
  readonly leaveWithinMs?: number;
}

/** What a bot shares with the one that replaces it after a reload of the configuration. */
export interface BotOptions extends AppOptions {
  readonly now: () => Date;
  readonly database: Database;
  readonly auditKey: AuditKey;
  readonly measures: Measures;
  readonly messenger: Messenger;
  /** What the audit channel contained before the start or reload. */
  readonly anchors: PostedAnchors;
  /** The instance that this one replaces after a reload; null at a start. */
  readonly replaces: string | null;
  /** No other process uses the database, and none in this process: a start, not a reload. */
  readonly takesOver: boolean;
}
