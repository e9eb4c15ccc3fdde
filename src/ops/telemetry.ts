// What Signalbox measures: counters of this process, and gauges that are read from the database.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Measures, note, pastStep } from '../base/log.ts';
import { activeConfiguration, appendProblem, type Log } from '../log/index.ts';
import { withAnswerLimit } from '../storage/errors.ts';
import { reading } from '../storage/index.ts';
import {
  type Backlog,
  digestEnds,
  dueJobs,
  noBackupSince,
  openChanges,
  undeliveredCards,
} from './store.ts';
import type { openTracing } from './tracing.ts';

/** Starts traces. The SDK of OpenTelemetry, which takes start-up time, is loaded only here. */
export const startTraces: typeof openTracing = async (tracing, about) =>
  (await import('./tracing.ts')).openTracing(tracing, about);

export type Metrics = ReturnType<typeof createMetrics>;

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

/** A card that is later than 3 s counts as later than all of them. */
const SHOWN_SECONDS = [0.1, 0.25, 0.5, 1, 1.5, 2, 2.5];
const SENT_SECONDS = [0.25, 0.5, 1, 2, 5, 10, 30, 60, 300];
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
export function createMetrics({ version, messageKinds, slackLimits }: MetricsOptions) {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `signalbox_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `signalbox_${name}`, help, labelNames, registers });

  const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    new Histogram({ name: `signalbox_${name}`, help, labelNames, buckets, registers });

  const build = { version, node: process.version };
  gauge('build_info', 'The version that runs', 'version', 'node').set(build, 1);
  const answers = counter('answers_total', 'Answers to commands, by outcome', 'command', 'ending');
  const moves = counter('change_moves_total', 'State transitions of changes', 'command', 'state');
  const refusals = counter('refusals_total', 'Refusals, by reason', 'reason');
  const lookups = counter('lookup_failures_total', 'Failed Slack lookups of users and user groups');
  const lost = counter('messages_lost_total', 'Messages given up after all retries', 'kind');
  const shown = histogram('shown_seconds', 'From a press to its card', SHOWN_SECONDS);
  const sent = histogram('sent_seconds', 'From approved to sent', SENT_SECONDS);
  const acks = histogram('ack_seconds', 'From a payload to its answer', ACK_SECONDS, 'kind');
  const calls = histogram(
    ...(['api_call_seconds', 'Duration of sent API requests; status none: no answer'] as const),
    ...([API_SECONDS, 'api', 'operation', 'status'] as const),
  );
  const waiting = 'Time that a sent API request waited for the request budget';
  const queued = histogram('api_queue_seconds', waiting, QUEUE_SECONDS, 'api');
  const slackCalls = counter('slack_calls_total', 'Calls of the Slack Web API', 'method', 'ending');
  const slackLimit = gauge('slack_limit_per_minute', 'Calls that Slack permits', 'method');
  for (const [method, calls] of slackLimits) slackLimit.set({ method }, calls);
  const rejected = counter('deliveries_refused_total', 'Deliveries of Slack refused', 'reason');
  for (const reason of ['clock', 'signature', 'unsigned']) rejected.inc({ reason }, 0);
  const foreign = gauge(
    'slack_foreign_connections',
    'Socket Mode connections of other programs with this app token, at the last hello of Slack',
  );
  const delivered = counter('alert_deliveries_total', 'Reports of the alert service', 'ending');
  const agentCalls = counter('agent_calls_total', 'Calls of agents', 'agent', 'tool', 'result');
  const returned = counter('permits_returned_total', 'Permits returned because nothing was sent');
  // A counter that begins with 1 shows no increase, so that the first lost message would ring no alert.
  for (const kind of [...messageKinds, 'other']) lost.inc({ kind }, 0);
  const connected = gauge('slack_connected', '1 if Slack delivers to this process');
  const configuration = gauge('config_info', 'Hash of the configuration in use', 'hash');
  const lastReload = gauge(
    'config_last_reload_success',
    '1 if the last reload of the configuration succeeded, or there was none',
  );
  lastReload.set(1);
  // A gauge without a value reads 0, which would report an outage: they exist from the first reading on.
  let updateGauges: ReturnType<typeof databaseGauges> | null = null;

  const merged = () => Registry.merge([nodeMetrics, registry]).metrics();
  /** Returns Prometheus' text format, with gauges that are read for it. */
  const text = async ({ gauges, ...readings }: Readings, now: Date): Promise<string> => {
    connected.set(readings.isConnected() ? 1 : 0);
    configuration.reset();
    configuration.set({ hash: readings.configuration() }, 1);
    if (gauges === null) return merged();
    const [found, writable] = await Promise.all([
      gauges().catch(() => null),
      readings.isWritable(),
    ]);
    updateGauges ??= databaseGauges(gauge);
    updateGauges(found, writable, now);
    return merged();
  };
  return {
    /** Whether the last reload of the configuration succeeded. */
    reloaded: (isActive: boolean) => lastReload.set(isActive ? 1 : 0),
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
      alertDelivered: (ending) => delivered.inc({ ending }),
      agentCalled: (agent, tool, result) => agentCalls.inc({ agent, tool, result }),
      messageLost: (kind) => lost.inc({ kind }),
      permitReturned: () => returned.inc(),
      shown: (ms) => shown.observe(ms / 1_000),
      sent: (ms) => sent.observe(ms / 1_000),
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
      deliveryRefused: (reason) => rejected.inc({ reason }),
      foreignConnections: (count) => foreign.set(count),
      slackCalled: (method, ending) => slackCalls.inc({ method, ending }),
    } satisfies Measures,
  };
}

type CallMeasurement = Parameters<Measures['called']>;

/** The span of an API request. */
function callOf(
  api: CallMeasurement[0],
  { operation, method, attempt, status }: CallMeasurement[1],
) {
  const failed = status === null ? 'no-answer' : status >= 300 ? String(status) : undefined;
  return {
    name: `${api} ${operation}`,
    kind: 'client',
    facts: {
      'signalbox.api': api,
      'signalbox.operation': operation,
      'http.request.method': method,
      'http.response.status_code': status ?? undefined,
      'http.request.resend_count': attempt > 1 ? attempt - 1 : undefined,
      'error.type': failed,
    },
  } as const;
}

type MakeGauge = (name: string, help: string, ...labels: string[]) => Gauge;

type Reader = (
  found: Gauges,
  ageOf: (backlog: Backlog) => number,
) => number | ReadonlyMap<string, number>;

const countOf = ({ count }: Backlog) => count;
const each = <T>(all: ReadonlyMap<string, T>, of: (one: T) => number) =>
  new Map([...all].map(([name, one]) => [name, of(one)]));
const queuesOf = ({ outbox, inbox }: Gauges) => new Map(Object.entries({ outbox, inbox }));

/** The gauges of database content, each with its label. */
const DATABASE_GAUGES: readonly (readonly [string, help: string, Reader, label?: string])[] = [
  ['open_changes', 'Open changes, by state', ({ changes }) => each(changes, countOf), 'state'],
  [
    ...(['open_change_age_seconds', 'Age of the oldest open change in this state'] as const),
    ({ changes }, ageOf) => each(changes, ageOf),
    'state',
  ],
  [
    'queue_depth',
    'Due jobs: presses to decide (inbox), and messages and other work (outbox)',
    (found) => each(queuesOf(found), countOf),
    'queue',
  ],
  [
    ...(['queue_age_seconds', 'Time since the oldest entry is due'] as const),
    (found, ageOf) => each(queuesOf(found), ageOf),
    'queue',
  ],
  [
    'undelivered_card_age_seconds',
    'Time since the last event of the oldest change whose card could not be drawn',
    ({ undeliveredCards }, ageOf) => ageOf(undeliveredCards),
  ],
  [
    'backup_age_seconds',
    'Time since the last backup, or since the first event of the log if none is recorded',
    ({ noBackup }, ageOf) => ageOf({ count: 1, since: noBackup }),
  ],
  ['digests', 'Digests, by how they ended', ({ digests }) => digests, 'state'],
  [
    'trail_broken',
    '1 if the log is damaged, or signed with another key, so that nothing is executed',
    ({ logProblem }) => Number(logProblem !== null),
  ],
  [
    'config_outdated',
    '1 if another configuration is the active one, so that this process executes no change',
    ({ isOutdated }) => Number(isOutdated),
  ],
];

/**
 * While the database is unreadable, the gauges without labels keep their last value, so that an outage does
 * not resolve the alert of a broken trail. The others have no value.
 */
function databaseGauges(gauge: MakeGauge) {
  const readable = gauge('database_readable', '1 if the database gauges could be read');
  const writable = gauge('database_writable', '1 if the database accepts writes');
  const all = DATABASE_GAUGES.map(([name, help, read, label]) => {
    return { read, label, shown: label ? gauge(name, help, label) : gauge(name, help) };
  });
  return (found: Gauges | null, isWritable: boolean, now: Date): void => {
    readable.set(found ? 1 : 0);
    writable.set(isWritable ? 1 : 0);
    for (const { read, label, shown } of all) {
      if (label) shown.reset();
      const value = found ? read(found, (backlog) => ageOf(backlog, now)) : new Map();
      if (typeof value === 'number') shown.set(value);
      else for (const [name, one] of value) shown.set({ [label ?? '']: name }, one);
    }
  };
}

// An entry that is due later has the age 0.
function ageOf({ since }: Backlog, now: Date): number {
  return since ? Math.max(0, (now.getTime() - since.getTime()) / 1_000) : 0;
}

export type Gauges = Awaited<ReturnType<typeof readGauges>>;

/** Reads the gauges, which are the same on every replica with this configuration. */
export async function readGauges(events: Log, now: Date, configuration: string) {
  const read = reading(events.store, async (reader) => {
    const jobs = await dueJobs(reader, now);
    return {
      changes: await openChanges(reader),
      /** Messages and other work. */
      outbox: jobs.others,
      /** Presses. */
      inbox: jobs.presses,
      undeliveredCards: await undeliveredCards(reader),
      digests: await digestEnds(reader),
      noBackup: await noBackupSince(reader),
    };
  });
  const [found, active] = await withAnswerLimit(Promise.all([read, activeConfiguration(events)]));
  return {
    ...found,
    /** Why this process may append nothing, or null. */
    logProblem: appendProblem(events)?.message ?? null,
    /** The active configuration is not that of this process. */
    isOutdated: active !== null && active.configuration !== configuration,
  };
}
