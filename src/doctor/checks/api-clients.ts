import { type AlertsClient, createAlertsClient } from '../../servers/alerts.ts';
import { type CloudClient, createCloudClient } from '../../servers/cloud.ts';
import { notStored } from '../../servers/cloud-reads.ts';
import type { CheckContext } from '../check-context.ts';

/** One client per API for all checks. A wrong address throws an InvalidRequest at the first use. */
export interface ApiClients {
  readonly cloud: () => CloudClient;
  /** Null: the alerts API is not configured. */
  readonly alerts: (() => AlertsClient) | null;
}

export function openApiClients({ config, version, now, withinMs }: CheckContext): ApiClients {
  const { url, keyId, keySecret } = config.cloud;
  const { id: organizationId } = config.organization;
  const common = {
    version,
    privateAddresses: config.access.privateAddresses,
    timing: { connectMs: withinMs, deadlineMs: withinMs },
    // The lines below show what is off.
    reads: { mode: config.reads, now, onOff: () => undefined },
  };
  const { alerts } = config;
  return {
    cloud: once(() =>
      createCloudClient({
        ...{ ...common, baseUrl: url, keyId, keySecret, organizationId },
        usageDates: notStored(config.usageDates),
        readsOnly: true,
      }),
    ),
    alerts: alerts && once(() => createAlertsClient({ ...common, ...alerts, baseUrl: alerts.url })),
  };
}

function once<T>(create: () => T): () => T {
  let created: { readonly value: T } | null = null;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}
