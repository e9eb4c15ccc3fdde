import type { Logger } from 'pino';
import type { Config } from './config/load-config.ts';
import type { Clock } from './http/clock.ts';
import type { Measures } from './observability/metrics-port.ts';
import type { Database } from './storage/engine/database.ts';

export interface AppOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
  readonly now?: () => Date;
  /** Replaces the system clock of the API clients. */
  readonly clock?: Clock;
  /** Aborts requests that still run shortly before the process exits; their outcome is unknown. */
  readonly leaving?: AbortSignal | undefined;
  /** Keeps serving for this long after readiness ends, until load balancers have noticed. */
  readonly leaveWithinMs?: number;
}

/** What a bot shares with the one that replaces it after a reload of the configuration. */
export interface BotOptions extends AppOptions {
  readonly now: () => Date;
  readonly database: Database;
  readonly auditKey: Buffer | null;
  readonly measures: Measures;
}
