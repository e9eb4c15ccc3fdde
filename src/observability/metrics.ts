import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Measures } from '../base/log.ts';
import { note, pastStep } from '../base/log.ts';
import type { Gauges } from '../storage/tables/queues/gauges.ts';
import { routeOf } from './api-routes.ts';
import { databaseGauges, type MakeGauge } from './database-gauges.ts';

export interface Metrics {
  readonly measures: Measures;
  readonly contentType: string;
  /** Whether the last reload of the configuration succeeded. */
  readonly reloaded: (isActive: boolean) => void;
  /** Returns Prometheus' text format, with gauges that are read for it. */
  readonly text: (readings: Readings, now: Date) => Promise<string>;
}

/** What is read for each request of the metrics. */
export interface Readings {
  /** Rejects while the database cannot be read. Null before it is opened: nothing is known of it. */
  readonly gauges: (() => Promise<Gauges>) | null;
  /** Whether the database accepts a write. A full disk still allows reads. */
  readonly isWritable: () => Promise<boolean>;
  /** Whether Slack delivers to this process. */
  readonly isConnected: () => boolean;
  /** The hash of the configuration in use. */
  readonly configuration: () => string;
}

const ACK_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];
const QUEUE_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 12, 20, 40];
const API_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40];

interface MetricsOptions {
  readonly version: string;
  /** The kinds of messages that can be given up. */
  readonly messageKinds: readonly string[];
  /** How many calls of a method Slack permits in a minute. */
  readonly slackLimits: ReadonlyMap<string, number>;
}

/** The metrics of the Node process, registered once: prom-client never stops its observers of the garbage collector. */
const nodeMetrics = new Registry();
collectDefaultMetrics({ register: nodeMetrics });

/**
 * The metrics of one app, in its own registry; `text` adds those of the Node process. What is measured
 * of an answer or a request is recorded in the current trace as well.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const { version, messageKinds, slackLimits } = options;
  const registry = new Registry();
  const registers = [registry];
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
  const queued = new Histogram({
    name: 'signalbox_api_queue_seconds',
    help: 'Time that a sent API request waited for the request budget',
    labelNames: ['api'],
    buckets: QUEUE_SECONDS,
    registers,
  });
  const slackCalls = counter('slack_calls_total', 'Calls of the Slack Web API', 'method', 'ending');
  const slackLimit = gauge('slack_limit_per_minute', 'Calls that Slack permits', 'method');
  for (const [method, calls] of slackLimits) slackLimit.set({ method }, calls);
  const returned = counter('permits_returned_total', 'Permits returned because nothing was sent');
  // A counter that begins with 1 shows no increase, so that the first lost message would ring no alert.
  for (const kind of [...messageKinds, 'other']) lost.inc({ kind }, 0);
  const own = processGauges(gauge);
  // A gauge without a value reads 0, which would report an outage: they exist from the first reading on.
  let updateGauges: ReturnType<typeof databaseGauges> | null = null;

  const merged = () => Registry.merge([nodeMetrics, registry]).metrics();
  const text: Metrics['text'] = async ({ gauges, isWritable, ...readings }, now) => {
    own.update(readings);
    if (gauges === null) return merged();
    const [found, writable] = await Promise.all([gauges().catch(() => null), isWritable()]);
    updateGauges ??= databaseGauges(gauge);
    updateGauges(found, writable, now);
    return merged();
  };
  return {
    contentType: registry.contentType,
    reloaded: own.reloaded,
    text,
    measures: {
      answered: (command, ending) => {
        answers.inc({ command, ending });
        const failed = ending === 'failed' ? { 'error.type': ending } : {};
        note({ 'signalbox.command': command, 'signalbox.ending': ending, ...failed });
      },
      moved: (command, state) => moves.inc({ command, state }),
      refused: (reason) => {
        refusals.inc({ reason });
        note({ 'signalbox.refusal': reason });
      },
      lookupFailed: () => lookups.inc(),
      messageLost: (kind) => lost.inc({ kind }),
      permitReturned: () => returned.inc(),
      acknowledged: (kind, ms) => {
        acks.observe({ kind }, ms / 1_000);
        note({ 'signalbox.ack_ms': Math.round(ms) });
      },
      called: (api, observation) => {
        const { operation, status, waitedMs, ms } = observation;
        calls.observe({ api, operation, status: String(status ?? 'none') }, ms / 1_000);
        queued.observe({ api }, waitedMs / 1_000);
        pastStep(callOf(api, observation), ms);
      },
      slackCalled: (method, ending) => slackCalls.inc({ method, ending }),
    },
  };
}

type CallMeasurement = Parameters<Measures['called']>;

/** The span of an API request. */
function callOf(
  api: CallMeasurement[0],
  { operation, method, attempt, status }: CallMeasurement[1],
) {
  const route = routeOf(api, operation);
  const failed = status === null ? 'no-answer' : status >= 300 ? String(status) : undefined;
  return {
    name: `${method} ${route}`,
    kind: 'client',
    facts: {
      'signalbox.api': api,
      'signalbox.operation': operation,
      'http.request.method': method,
      'url.template': route,
      'http.response.status_code': status ?? undefined,
      'http.request.resend_count': attempt > 1 ? attempt - 1 : undefined,
      'error.type': failed,
    },
  } as const;
}

/** Gauges of this process, which differ between replicas. */
function processGauges(gauge: MakeGauge) {
  const connected = gauge('slack_connected', '1 if Slack delivers to this process');
  const configuration = gauge('config_info', 'Hash of the configuration in use', 'hash');
  const lastReload = gauge(
    'config_last_reload_success',
    '1 if the last reload of the configuration succeeded, or there was none',
  );
  lastReload.set(1);
  return {
    reloaded: (isActive: boolean) => lastReload.set(isActive ? 1 : 0),
    update: (readings: Pick<Readings, 'isConnected' | 'configuration'>) => {
      connected.set(readings.isConnected() ? 1 : 0);
      configuration.reset();
      configuration.set({ hash: readings.configuration() }, 1);
    },
  };
}
