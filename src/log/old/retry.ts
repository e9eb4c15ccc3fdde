import type { Logger } from 'pino';
import type { Measures } from '../../base/log.ts';
import { HOUR_MS } from '../../base/time.ts';
import type { DueMessage } from '../../storage/old/outbox.ts';

const RETRY_FOR_MS = 24 * HOUR_MS;
const LONGEST_MS = 300_000;

/** Whether Signalbox stops retrying a message: 24 hours after the first attempt. */
export function isGivenUp({ firstTriedAt }: DueMessage, now: Date): boolean {
  return now.getTime() - firstTriedAt.getTime() >= RETRY_FOR_MS;
}

/** Returns when to retry: the first wait is `firstMs`, each next one twice as long, up to 5 min. */
export function retryTime({ attempts }: DueMessage, now: Date, firstMs: number): Date {
  return new Date(now.getTime() + Math.min(firstMs * 2 ** (attempts - 1), LONGEST_MS));
}

interface LostContext {
  readonly log: Logger;
  readonly measures: Pick<Measures, 'messageLost'>;
}

/** Logs and counts a message that is not posted any more. */
export function countLost({ log, measures }: LostContext, row: DueMessage): void {
  log.error({ change: row.changeId, kind: row.kind }, 'message was given up');
  measures.messageLost(messageLabel(row));
}

/** The kind without the state or number that it is about, so that few values exist. */
export function messageLabel({ message }: DueMessage): string {
  return message?.kind ?? 'other';
}
