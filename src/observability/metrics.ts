import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Gauge as GaugeReading, Gauges } from '../storage/tables/queues/gauges.ts';
import type { Measures } from './metrics-port.ts';

export interface Metrics {
  readonly measures: Measures;
  readonly contentType: string;
  /** Returns Prometheus' text format, with gauges that are read from the database for it. */
  readonly text: (readGauges: () => Promise<Gauges>, now: Date) => Promise<string>;
}

const ACK_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];
const API_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40];

/** The metrics of one process, in its own registry. */
export function createMetrics({ version }: { readonly version: string }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `signalbox_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `signalbox_${name}`, help, labelNames, registers });

  gauge('info', 'Running version', 'version').set({ version }, 1);
  const answers = counter('answers_total', 'Answers to commands, by outcome', 'command', 'ending');
  const moves = counter('change_moves_total', 'State transitions of changes', 'command', 'state');
  const refusals = counter('refusals_total', 'Refusals, by reason', 'reason');
  const lookups = counter('lookup_failures_total', 'Failed Slack lookups of users and user groups');
  const lost = counter('messages_lost_total', 'Messages given up after all retries', 'kind');
  const acks = new Histogram({
    name: 'signalbox_ack_seconds',
    help: 'Time from the arrival of a Slack payload to its acknowledgement',
    labelNames: ['kind'],
    buckets: ACK_SECONDS,
    registers,
  });
  const calls = new Histogram({
    name: 'signalbox_api_call_seconds',
    help: 'Duration of sent API requests; status is none without an answer',
    labelNames: ['api', 'operation', 'status'],
    buckets: API_SECONDS,
    registers,
  });
  const updateGauges = databaseGauges(gauge);

  const text: Metrics['text'] = async (readGauges, now) => {
    updateGauges(await readGauges().catch(() => null), now);
    return registry.metrics();
  };
  return {
    contentType: registry.contentType,
    text,
    measures: {
      answered: (command, ending) => answers.inc({ command, ending }),
      moved: (command, state) => moves.inc({ command, state }),
      refused: (reason) => refusals.inc({ reason }),
      lookupFailed: () => lookups.inc(),
      messageLost: (kind) => lost.inc({ kind }),
      acknowledged: (kind, ms) => acks.observe({ kind }, ms / 1_000),
      called: (api, { operation, status, ms }) =>
        calls.observe({ api, operation, status: String(status ?? 'none') }, ms / 1_000),
    },
  };
}

type MakeGauge = (name: string, help: string, ...labels: string[]) => Gauge;

/** Gauges of database content. While the database is unreadable they have no value. */
function databaseGauges(gauge: MakeGauge): (readings: Gauges | null, now: Date) => void {
  const readable = gauge('database_readable', '1 if the database gauges could be read');
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
  const digests = gauge('digests', 'Digests, by state', 'state');
  const broken = gauge('trail_broken', '1 if the verification of the audit trail failed');
  const outdated = gauge(
    'config_outdated',
    '1 if another replica uses a newer configuration, so that this one executes no change',
  );
  const all = [broken, outdated, changes, oldest, queued, waits, digests];

  return (readings, now) => {
    for (const each of all) each.reset();
    readable.set(readings ? 1 : 0);
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
    for (const [state, count] of readings.digests) digests.set({ state }, count);
  };
}

// An entry that is due later has the age 0.
function ageOf({ since }: GaugeReading, now: Date): number {
  return since ? Math.max(0, (now.getTime() - since.getTime()) / 1_000) : 0;
}
