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

/** The numbers of one process, in a registry of its own. */
export function createMetrics({ version }: { readonly version: string }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `signalbox_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `signalbox_${name}`, help, labelNames, registers });

  gauge('info', 'The version that runs', 'version').set({ version }, 1);
  const answers = counter('answers_total', 'Answers to people', 'command', 'ending');
  const moves = counter('change_moves_total', 'Changes that entered a state', 'command', 'state');
  const refusals = counter('refusals_total', 'Named refusals', 'reason');
  const lookups = counter('lookup_failures_total', 'Questions about people Slack did not answer');
  const acks = new Histogram({
    name: 'signalbox_ack_seconds',
    help: 'From the arrival of a payload to our acknowledgement',
    labelNames: ['kind'],
    buckets: ACK_SECONDS,
    registers,
  });
  const calls = new Histogram({
    name: 'signalbox_api_call_seconds',
    help: 'Requests that were put on the wire; the status is none where no answer came',
    labelNames: ['api', 'operation', 'status'],
    buckets: API_SECONDS,
    registers,
  });
  const stock = stockOf(gauge);

  const text: Metrics['text'] = async (readGauges, now) => {
    stock(await readGauges().catch(() => null), now);
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
      acknowledged: (kind, ms) => acks.observe({ kind }, ms / 1_000),
      called: (api, { operation, status, ms }) =>
        calls.observe({ api, operation, status: String(status ?? 'none') }, ms / 1_000),
    },
  };
}

type MakeGauge = (name: string, help: string, ...labels: string[]) => Gauge;

/** What lies in the database. While it cannot be read there are no figures, rather than old ones. */
function stockOf(gauge: MakeGauge): (found: Gauges | null, now: Date) => void {
  const readable = gauge('database_readable', 'Whether the figures below could be read');
  const changes = gauge('open_changes', 'Changes that are not over', 'state');
  const oldest = gauge('open_change_age_seconds', 'Age of the oldest of them', 'state');
  const queued = gauge('queue_depth', 'Messages to send, and clicks to handle', 'queue');
  const waits = gauge('queue_age_seconds', 'For how long the oldest of them is due', 'queue');
  const digests = gauge('digests', 'Digests by what became of them', 'state');
  const broken = gauge('trail_broken', 'Whether the audit trail is not as it was written');
  const all = [broken, changes, oldest, queued, waits, digests];

  return (found, now) => {
    for (const each of all) each.reset();
    readable.set(found ? 1 : 0);
    if (!found) return;
    broken.set(found.trailTrouble === null ? 0 : 1);
    for (const [state, level] of found.changes) {
      changes.set({ state }, level.count);
      oldest.set({ state }, ageOf(level, now));
    }
    for (const queue of ['outbox', 'inbox'] as const) {
      queued.set({ queue }, found[queue].count);
      waits.set({ queue }, ageOf(found[queue], now));
    }
    for (const [state, count] of found.digests) digests.set({ state }, count);
  };
}

// A message that is due later waits for nobody yet.
function ageOf({ since }: GaugeReading, now: Date): number {
  return since ? Math.max(0, (now.getTime() - since.getTime()) / 1_000) : 0;
}
