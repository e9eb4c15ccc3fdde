import { setTimeout as wait } from 'node:timers/promises';
import { type AlertList, type AlertsClient, createAlertsClient } from './alerts/client.ts';
import { createAnomalyQueries } from './anomalies/anomaly-queries.ts';
import { type AnomalyContext, createWatch } from './anomalies/anomaly-run.ts';
import { watchedFor } from './anomalies/watched-services.ts';
import type { BotOptions } from './bot-options.ts';
import { createCloudClient } from './cloud/client.ts';
import { createCostReader, type ReadCosts } from './cost-reports/cost-reader.ts';
import type { Span } from './costs/calendar/calendar.ts';
import type { Gathered } from './digests/gather.ts';
import { createDigestRun } from './digests/run.ts';
import { createDigestService } from './digests/subscriptions/digest-service.ts';
import { digestReader } from './digests/subscriptions/options.ts';
import type { DigestSubscription } from './digests/subscriptions/subscriptions.ts';
import { directoryOf, type Service } from './directory/directory.ts';
import type { Observation } from './http/client.ts';
import { sharedRead } from './http/shared-read.ts';
import type { CommandContext } from './intent/ports/command-context.ts';
import type { Api } from './observability/metrics-port.ts';
import type { Database } from './storage/engine/database.ts';
import { knownServices } from './storage/tables/directory.ts';
import type { MoreLanes } from './workflow/background/lanes.ts';
import type { WorkflowContext } from './workflow/ports.ts';
import { createFreezeService } from './workflow/queries/freeze-service.ts';
import { createWhoQueries } from './workflow/queries/who-queries.ts';

const READ_DIRECTORY_EVERY_MS = 10_000;
const ALERTS_KEPT_MS = 30_000;

interface OpenedCommandContext {
  readonly now: () => Omit<CommandContext, 'changes'>;
  readonly costs: ReadCosts;
  readonly lanes: MoreLanes;
  readonly refresh: () => void;
  /** Gives up what is being read, but for what a change under way needs. */
  readonly stopReading: () => void;
  readonly close: () => Promise<void>;
}

/** The clients, and the directory as the database last had it: other replicas learn too. */
export async function openCommandContext(
  options: BotOptions,
  database: Database,
  parts: Pick<
    WorkflowContext,
    'messenger' | 'auditKey' | 'newId' | 'instance' | 'people' | 'commands'
  >,
): Promise<OpenedCommandContext> {
  const { config, version, log, clock, now = () => new Date() } = options;
  const { url: baseUrl, keyId, keySecret } = config.cloud;
  const { id: organizationId, plan, tier } = config.organization;
  const organization = { plan, tier };
  const stopping = new AbortController();
  const { privateAddresses } = config.access;
  const giveUp = { stopping: stopping.signal, leaving: options.leaving };
  const passed = { version, clock, privateAddresses, ...giveUp };
  const observe = (api: Api) => (seen: Observation) => {
    options.measures.called(api, seen);
    log.info({ api, ...seen, ms: Math.round(seen.ms) }, 'an API was asked');
  };
  const cloud = createCloudClient({
    baseUrl,
    keyId,
    keySecret,
    organizationId,
    organization,
    ...passed,
    observe: observe('cloud'),
  });
  const alerts = config.alerts
    ? createAlertsClient({
        baseUrl: config.alerts.url,
        token: config.alerts.token,
        ...passed,
        observe: observe('alerts'),
      })
    : null;

  const lists = sharedRead(
    () => readAlerts(alerts),
    ALERTS_KEPT_MS,
    () => now().getTime(),
  );
  const clients = {
    cloud,
    alerts,
    listAlerts: () => lists.read('all', { fresh: false }),
    costs: (span: Span) => readCosts(span, { priority: 'people' }),
    organization: { plan, tier },
    openToTheWorld: config.access.openToTheWorld,
    now,
  };

  const readCosts = createCostReader({ cloud, database, now, log });
  let services: readonly Service[] = [];
  const read = async () => {
    services = directoryOf(config.services, await knownServices(database.db));
  };
  const refresh = () => {
    read().catch((error: unknown) => log.warn({ err: error }, 'the directory was not read again'));
  };
  await read();
  const digestWorld = {
    ...parts,
    database,
    configured: config.digests,
    readOptions: digestReader(config.services),
    costs: (span: Span) => readCosts(span, { priority: 'digest' }),
    services: () => services,
    watched: (one: DigestSubscription, gathered: Gathered) => watchedFor(watchWorld, one, gathered),
    pause: (ms: number) => wait(ms),
    log,
    now,
  };
  const watchWorld: AnomalyContext = { ...digestWorld, budgets: config.budgets };
  const watch = createAnomalyQueries({ ...watchWorld, costs: clients.costs });
  const digests = createDigestService(digestWorld);
  const freezes = createFreezeService({ ...parts, database, policy: config.policy, now });
  const who = createWhoQueries({
    ...parts,
    database,
    policy: config.policy,
    now,
    services: () => services,
  });
  const timer = setInterval(refresh, READ_DIRECTORY_EVERY_MS);
  return {
    now: () => ({ ...clients, digests, watch, freezes, who, services }),
    costs: readCosts,
    lanes: { runDigests: createDigestRun(digestWorld), watchCosts: createWatch(watchWorld) },
    refresh,
    stopReading: () => stopping.abort(),
    close: async () => {
      clearInterval(timer);
      await Promise.all([cloud.close(), alerts?.close()]);
    },
  };
}

async function readAlerts(alerts: AlertsClient | null): Promise<AlertList> {
  if (!alerts) return { alerts: [], total: 0, complete: true };
  return (await alerts.listAlerts()).result;
}
