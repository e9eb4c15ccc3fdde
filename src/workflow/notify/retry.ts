import type { DueMessage } from '../../storage/tables/queues/outbox.ts';

const RETRY_FOR_MS = 24 * 3_600_000;
const LONGEST_MS = 300_000;

/** Whether Signalbox stops retrying a message: 24 hours after the first attempt. */
export function isGivenUp({ firstTriedAt }: DueMessage, now: Date): boolean {
  return now.getTime() - firstTriedAt.getTime() >= RETRY_FOR_MS;
}

/** Returns when to retry: the first wait is `firstMs`, each next one twice as long, up to 5 min. */
export function retryTime({ attempts }: DueMessage, now: Date, firstMs: number): Date {
  return new Date(now.getTime() + Math.min(firstMs * 2 ** (attempts - 1), LONGEST_MS));
}
