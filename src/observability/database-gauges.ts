import type { Gauge } from 'prom-client';
import type { Gauge as GaugeReading, Gauges } from '../storage/tables/queues/gauges.ts';

export type MakeGauge = (name: string, help: string, ...labels: string[]) => Gauge;

/**
 * Gauges of database content. While the database is unreadable, the ones without labels keep their last
 * value, so that an outage does not resolve the alert of a broken trail. The others have no value.
 */
export function databaseGauges(gauge: MakeGauge) {
  const readable = gauge('database_readable', '1 if the database gauges could be read');
  const writable = gauge('database_writable', '1 if the database accepts writes');
  const changes = gauge('open_changes', 'Open changes, by state', 'state');
  const oldest = gauge(
    'open_change_age_seconds',
    'Age of the oldest open change in this state',
    'state',
  );
  const queued = gauge(
    'queue_depth',
    'Messages to send (outbox) and clicks to process (inbox)',
    'queue',
  );
  const waits = gauge('queue_age_seconds', 'Time since the oldest entry is due', 'queue');
  const cards = gauge(
    'undelivered_card_age_seconds',
    'Time since the first attempt to deliver the oldest card that is not in Slack',
  );
  const digests = gauge('digests', 'Digests, by state', 'state');
  const broken = gauge('trail_broken', '1 if the verification of the audit trail failed');
  const outdated = gauge(
    'config_outdated',
    '1 if another replica uses a newer configuration, so that this one executes no change',
  );
  const labelled = [changes, oldest, queued, waits, digests];

  return (readings: Gauges | null, isWritable: boolean, now: Date): void => {
    for (const each of labelled) each.reset();
    readable.set(readings ? 1 : 0);
    writable.set(isWritable ? 1 : 0);
    if (!readings) return;
    broken.set(readings.trailProblem === null ? 0 : 1);
    outdated.set(readings.isOutdated ? 1 : 0);
    for (const [state, reading] of readings.changes) {
      changes.set({ state }, reading.count);
      oldest.set({ state }, ageOf(reading, now));
    }
    for (const queue of ['outbox', 'inbox'] as const) {
      queued.set({ queue }, readings[queue].count);
      waits.set({ queue }, ageOf(readings[queue], now));
    }
    cards.set(ageOf(readings.undeliveredCards, now));
    for (const [state, count] of readings.digests) digests.set({ state }, count);
  };
}

// An entry that is due later has the age 0.
function ageOf({ since }: GaugeReading, now: Date): number {
  return since ? Math.max(0, (now.getTime() - since.getTime()) / 1_000) : 0;
}
