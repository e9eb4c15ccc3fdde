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
  /** The clock of the API clients, where it is not the machine's. */
  readonly clock?: Clock;
  /** Fires when what still hangs has to be broken off: its outcome is recorded as unknown. */
  readonly leaving?: AbortSignal | undefined;
  /** How long a process that is not ready any more still answers: a balancer looks now and then. */
  readonly leaveWithinMs?: number;
}
export interface BotOptions extends AppOptions {
  readonly now: () => Date;
  readonly database: Database;
  readonly auditKey: Buffer | null;
  readonly measures: Measures;
}
