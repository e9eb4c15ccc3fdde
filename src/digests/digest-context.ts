import type { Logger } from 'pino';
import type { Span } from '../base/calendar.ts';
import type { Slot } from '../base/weekly-times.ts';
import type { Budget } from '../budgets/budgets.ts';
import type { Poster } from '../domain/answer.ts';
import type { Service } from '../domain/targets.ts';
import type { CostReading } from '../maths/report.ts';
import type { Database } from '../storage/engine/database.ts';
import type { DigestAttention } from './facts.ts';
import type { DigestData } from './gather.ts';
import type { DigestSubscription, SubscriptionSources } from './subscriptions/subscriptions.ts';

export interface DigestContext extends SubscriptionSources {
  readonly database: Database;
  readonly messenger: Pick<Poster, 'postToChannel' | 'findChannels'>;
  readonly organizationId: string;
  readonly costs: (span: Span) => Promise<CostReading>;
  readonly services: () => readonly Service[];
  readonly budgets: readonly Budget[];
  /** The anomalies and budgets that a digest shows. */
  readonly attention: (one: DigestSubscription, data: DigestData) => Promise<DigestAttention>;
  readonly log: Logger;
  readonly now: () => Date;
  readonly pause: (ms: number) => Promise<void>;
  /** The id of this process. */
  readonly instance: string;
}

export interface DueDigest {
  readonly one: DigestSubscription;
  readonly slot: Slot;
  readonly next: Date | null;
  /** When the previous digest was posted; null if there was none. */
  readonly before: Date | null;
}
