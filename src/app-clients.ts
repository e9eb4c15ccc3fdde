import type { BotOptions } from './app-start.ts';
import { sharedRead } from './base/cache.ts';
import type { Span } from './base/calendar.ts';
import type { Observation } from './base/http.ts';
import type { Api } from './base/log.ts';
import type { CommandContext } from './commands/index.ts';
import { createOrganizationsReader, openCostServices } from './costs/index.ts';
import type { UserId } from './domain/change.ts';
import { type AlertList, type AlertsClient, createAlertsClient } from './servers/alerts.ts';
import { createCloud, createCloudClient } from './servers/cloud.ts';
import type { OpenedDirectory } from './servers/directory.ts';
import type { CapabilityOptions } from './servers/optional-reads.ts';
import { openRequestBudget } from './storage/index.ts';
import { commandServices, type DecisionContext, type MaintenanceJob } from './workflow/index.ts';

const LOOP_EVERY_MS = 1_000;
const ALERTS_CACHED_MS = 30_000;

/** Opens the API clients and the services that commands use. */
export function openCommandContext(
  options: BotOptions,
  decisions: DecisionContext,
  { remembering, services }: Pick<OpenedDirectory, 'remembering' | 'services'>,
) {
  const { config, log, now } = options;
  const { store } = decisions;
  const { organizations } = config;
  const stopping = new AbortController();
  const clientsOf = createClients(options, stopping.signal);
  const { alerts } = clientsOf;
  const cloud = createCloud(
    clientsOf.organizations.map(({ client, ...each }) => {
      return { ...each, client: { ...client, reads: remembering(each.id, client.reads) } };
    }),
    (serviceId) => services().find(({ id }) => id === serviceId)?.organizationId ?? null,
  );
  const lists = sharedRead(
    () => readAlerts(alerts),
    ALERTS_CACHED_MS,
    () => now().getTime(),
  );
  const readCosts = createOrganizationsReader(cloud.organizations, {
    store,
    events: decisions.events,
    now,
    log,
    prices: decisions.prices,
  });
  const { limitRefresh, ...ports } = commandServices(decisions);
  const clients = {
    cloud,
    alerts,
    reads: { cloud: cloud.reads, alerts: alerts?.reads ?? null },
    listAlerts: () => lists.read('all', { fresh: false }),
    costs: (span: Span, organizationId?: string) =>
      readCosts(span, { priority: 'people', organizationId }),
    refreshCosts: async (span: Span, by: UserId) => {
      const again = await limitRefresh(by);
      if (again) return { ok: false as const, again };
      const read = await readCosts(span, { priority: 'people', fresh: true });
      return { ok: true as const, read };
    },
    ...{ poster: decisions.messenger, organizations },
    prefix: config.slack.commandPrefix,
    openToTheWorld: config.access.openToTheWorld,
    now,
  };
  const { loops, jobs, ...costQueries } = openCostServices({
    ...decisions,
    config,
    budgets: config.budgets,
    costs: (span) => readCosts(span, { priority: 'background' }),
    costsForPeople: clients.costs,
  });
  return {
    now: (organization?: string): Omit<CommandContext, 'changes'> => ({
      ...clients,
      cloud: organization === undefined ? cloud : cloud.within(organization),
      ...costQueries,
      ...ports,
      services: decisions.services(),
    }),
    /** Reads the stored usage report, and never the API. */
    storedCosts: (span: Span, organizationId?: string) =>
      readCosts(span, { priority: 'background', storedOnly: true, organizationId }),
    kinds: jobs,
    upkeep: Object.entries(loops).map(
      ([name, work]): MaintenanceJob => ({ name, work, everyMs: LOOP_EVERY_MS }),
    ),
    /** Aborts pending reads, except those that a running change needs. */
    stopReading: () => stopping.abort(),
    close: async () => {
      await Promise.all([cloud.close(), alerts?.close()]);
    },
  };
}

function createClients(
  { config, version, log, now, clock, leaving, measures, store, record }: BotOptions,
  stopping: AbortSignal,
) {
  const { url: baseUrl } = config.cloud;
  const { privateAddresses } = config.access;
  const shared = { version, clock, privateAddresses, stopping, leaving, record };
  const observe = (api: Api) => (call: Observation) => {
    measures.called(api, call);
    const rounded = { waitedMs: Math.round(call.waitedMs), ms: Math.round(call.ms) };
    log.info({ api, ...call, ...rounded }, 'API called');
  };
  const reads = (api: Api): CapabilityOptions => ({
    mode: config.reads,
    now,
    onOff: (off) => log.warn({ api, ...off }, 'optional read off'),
  });
  // SQLite has one process. A replaced clock is not that of the database.
  const isShared = store.engine === 'postgres' && !clock;
  const shareOf = (key: string) => (isShared ? openRequestBudget(store, key) : undefined);
  const organizations = config.organizations.map(({ id, name, plan, tier, ...key }) => ({
    ...{ id, name },
    client: createCloudClient({
      ...{ baseUrl, organizationId: id, organization: { plan, tier }, ...key, ...shared },
      sharedBudget: shareOf(name === null ? 'cloud' : `cloud ${id}`),
      observe: observe('cloud'),
      reads: reads('cloud'),
    }),
  }));
  const alerts =
    config.alerts &&
    createAlertsClient({
      baseUrl: config.alerts.url,
      token: config.alerts.token,
      ...shared,
      sharedBudget: shareOf('alerts'),
      observe: observe('alerts'),
      reads: reads('alerts'),
    });
  return { organizations, alerts };
}

async function readAlerts(alerts: AlertsClient | null): Promise<AlertList> {
  if (!alerts) return { alerts: [], total: 0, complete: true };
  return (await alerts.listAlerts()).result;
}
