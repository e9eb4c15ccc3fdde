import { createOutageLog } from './base/log.ts';
import type { AppOptions } from './bot-options.ts';
import { followClock, type SharedClock } from './storage/old/clock.ts';
import type { Database } from './storage/old/database.ts';

export type ProcessClock = Pick<SharedClock, 'now' | 'stop'>;

const CLOCK_SKEW_MS = 5_000;
const CLOCK_OUTAGE = {
  began: 'database clock could not be read; Signalbox counts on by itself',
  ended: 'database clock can be read again',
};

/** Returns the database's clock, on which all replicas agree. A given `now` takes its place. */
export async function openClock(
  { now, log }: AppOptions,
  database: Database,
): Promise<ProcessClock> {
  if (now) return { now, stop: () => undefined };
  const outage = createOutageLog(log, CLOCK_OUTAGE);
  const onError = (error: unknown) => outage.failed(String(error), { err: error });
  const clock = await followClock(database, { onError, onRead: outage.ended });
  const behindMs = Math.round(clock.behindMs());
  if (Math.abs(behindMs) > CLOCK_SKEW_MS) {
    log.warn({ behindMs }, 'the clocks of this machine and the database differ');
  }
  return clock;
}
