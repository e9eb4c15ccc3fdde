import type { Api } from '../base/log.ts';
import type { AlertsClient } from '../servers/alerts.ts';
import type { AlertsReadOperation } from '../servers/alerts-reads.ts';
import type { CloudClient } from '../servers/cloud.ts';
import type { CloudReadOperation } from '../servers/cloud-reads.ts';

/** The operations of each API. A new method of a client does not compile without its route. */
interface ApiOperations {
  readonly cloud: Exclude<keyof CloudClient, 'close' | 'reads'> | CloudReadOperation;
  readonly alerts: Exclude<keyof AlertsClient, 'close' | 'reads'> | AlertsReadOperation;
}

const ORGANIZATION = '/v1/organizations/{organizationId}';
const SERVICE = `${ORGANIZATION}/services/{serviceId}`;
const ALERTS = '/api/v2/alerts';

/** URL templates without ids, so that trace names have a low cardinality. */
const ROUTES: { readonly [A in Api]: Readonly<Record<ApiOperations[A], string>> } = {
  cloud: {
    createService: `${ORGANIZATION}/services`,
    createReversePrivateEndpoint: `${SERVICE}/pipesReversePrivateEndpoints`,
    updateReplicaScaling: `${SERVICE}/replicaScaling`,
    updateServiceState: `${SERVICE}/state`,
    getUsageCost: `${ORGANIZATION}/usageCost`,
    getPipeSettings: `${SERVICE}/pipes/{pipeId}/settings`,
    getBackup: `${SERVICE}/backups/{backupId}`,
    listOrganizations: '/v1/organizations',
    listServices: `${ORGANIZATION}/services`,
    getService: SERVICE,
    getScalingSchedule: `${SERVICE}/scalingSchedule`,
    listBackups: `${SERVICE}/backups`,
    listPipes: `${SERVICE}/pipes`,
    listReversePrivateEndpoints: `${SERVICE}/pipesReversePrivateEndpoints`,
    getReversePrivateEndpoint: `${SERVICE}/pipesReversePrivateEndpoints/{endpointId}`,
    listActivities: `${ORGANIZATION}/activities`,
    getKey: `${ORGANIZATION}/keys/{keyId}`,
  },
  alerts: {
    listAlerts: ALERTS,
    getAlert: `${ALERTS}/{id}`,
    updateAlert: `${ALERTS}/{id}`,
    listWebhooks: '/api/v2/webhooks',
    listSavedSearches: '/api/v2/saved-searches',
    listDashboards: '/api/v2/dashboards',
  },
};

/** The URL template of an operation, or `other` for an unknown name. */
export function routeOf(api: Api, operation: string): string {
  const routes: Readonly<Record<string, string>> = ROUTES[api];
  return routes[operation] ?? 'other';
}
