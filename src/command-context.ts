import { setTimeout as wait } from 'node:timers/promises';
import { type AlertList, type AlertsClient, createAlertsClient } from './alerts/client.ts';
import { listAnomalies } from './anomalies/anomaly-queries.ts';
import { type AnomalyContext, createAnomalyWatch } from './anomalies/anomaly-watch.ts';
import { backtest } from './anomalies/backtest.ts';
import type { BotOptions } from './bot-options.ts';
import { listBudgets } from './budgets/budget-queries.ts';
import { createCloudClient } from './cloud/client.ts';
import { digestReader } from './config/digest-options.ts';
import { createCostReader } from './cost-reports/cost-reader.ts';
import type { Span } from './costs/calendar/calendar.ts';
import type { CostReading } from './costs/ledger/costs-read.ts';
import { findAttention } from './digests/attention.ts';
import type { DigestContext } from './digests/digest-context.ts';
import { createDigestRun } from './digests/run.ts';
import { createDigestService } from './digests/subscriptions/digest-service.ts';
import { loadSubscriptions } from './digests/subscriptions/subscriptions.ts';
import { buildDirectory, type Service } from './directory/directory.ts';
import type { Observation } from './http/client.ts';
import { sharedRead } from './http/shared-read.ts';
import type { CommandContext } from './intent/ports/command-context.ts';
import type { Api } from './observability/api-routes.ts';
import { knownServices } from './storage/tables/directory.ts';
import type { BackgroundLoop } from './workflow/background/scheduler.ts';
import type { DecisionContext } from './workflow/ports.ts';
import { createFreezeService } from './workflow/queries/freeze-service.ts';
import { createWhoQueries } from './workflow/queries/who-queries.ts';

const READ_DIRECTORY_EVERY_MS = 10_000;
const ALERTS_CACHED_MS = 30_000;

interface OpenedCommandContext {
  readonly now: () => Omit<CommandContext, 'changes'>;
  /** Reads the usage report with the priority of background work. */
  readonly digestCosts: (span: Span) => Promise<CostReading>;
  readonly loops: Readonly<Record<string, BackgroundLoop>>;
  /** Reads the directory from the database again, without waiting for it. */
  readonly refresh: () => void;
  /** Aborts pending reads, except those that a running change needs. */
  readonly stopReading: () => void;
  readonly close: () => Promise<void>;
}

/**
 * Opens the API clients, the directory and the services that commands use. The directory is read
 * from the database every 10 s, because other replicas add to it.
 */
export async function openCommandContext(
  options: BotOptions,
  decisions: DecisionContext,
): Promise<OpenedCommandContext> {
  const { config, log, now } = options;
  const { database } = decisions;
  const { plan, tier } = config.organization;
  const stopping = new AbortController();
  const { cloud, alerts } = createClients(options, stopping.signal);
  const lists = sharedRead(
    () => readAlerts(alerts),
    ALERTS_CACHED_MS,
    () => now().getTime(),
  );
  const readCosts = createCostReader({ cloud, database, now, log });
  const digestCosts = (span: Span) => readCosts(span, { priority: 'digest' });
  const clients = {
    cloud,
    alerts,
    listAlerts: () => lists.read('all', { fresh: false }),
    costs: (span: Span) => readCosts(span, { priority: 'people' }),
    organization: { plan, tier },
    openToTheWorld: config.access.openToTheWorld,
    now,
  };
  let services: readonly Service[] = [];
  const readDirectory = async () => {
    services = buildDirectory(config.services, await knownServices(database.db));
  };
  const refresh = () => {
    readDirectory().catch((error: unknown) => log.warn({ err: error }, 'directory read failed'));
  };
  await readDirectory();

  const subscriptions = {
    configured: config.digests,
    readOptions: digestReader(config.services),
  };
  const anomalyContext: AnomalyContext = {
    ...decisions,
    channels: async () => (await loadSubscriptions(database.db, subscriptions)).all,
    budgets: config.budgets,
    costs: digestCosts,
    services: () => services,
  };
  const digestContext: DigestContext = {
    ...anomalyContext,
    ...subscriptions,
    messenger: decisions.messenger,
    instance: decisions.instance,
    attention: (one, data) => findAttention(anomalyContext, one, data),
    pause: (ms) => wait(ms),
  };
  const queried = { ...anomalyContext, costs: clients.costs };
  const anomalies = {
    anomalies: () => listAnomalies(queried),
    backtest: (days: number) => backtest(queried, days),
    budgets: () => listBudgets(queried),
  };
  const digests = createDigestService({ ...decisions, ...digestContext });
  const freezes = createFreezeService(decisions);
  const who = createWhoQueries({ ...decisions, services: () => services });
  const timer = setInterval(refresh, READ_DIRECTORY_EVERY_MS);
  return {
    now: () => ({ ...clients, digests, anomalies, freezes, who, services }),
    digestCosts,
    loops: {
      runDigests: createDigestRun(digestContext),
      watchCosts: createAnomalyWatch(anomalyContext),
    },
    refresh,
    stopReading: () => stopping.abort(),
    close: async () => {
      clearInterval(timer);
      await Promise.all([cloud.close(), alerts?.close()]);
    },
  };
}

function createClients(
  { config, version, log, clock, leaving, measures }: BotOptions,
  stopping: AbortSignal,
) {
  const { url: baseUrl, keyId, keySecret } = config.cloud;
  const { id: organizationId, plan, tier } = config.organization;
  const { privateAddresses } = config.access;
  const shared = { version, clock, privateAddresses, stopping, leaving };
  const observe = (api: Api) => (call: Observation) => {
    measures.called(api, call);
    log.info({ api, ...call, ms: Math.round(call.ms) }, 'API called');
  };
  const cloud = createCloudClient({
    baseUrl,
    keyId,
    keySecret,
    organizationId,
    organization: { plan, tier },
    ...shared,
    observe: observe('cloud'),
  });
  const alerts =
    config.alerts &&
    createAlertsClient({
      baseUrl: config.alerts.url,
      token: config.alerts.token,
      ...shared,
      observe: observe('alerts'),
    });
  return { cloud, alerts };
}

async function readAlerts(alerts: AlertsClient | null): Promise<AlertList> {
  if (!alerts) return { alerts: [], total: 0, complete: true };
  return (await alerts.listAlerts()).result;
}
