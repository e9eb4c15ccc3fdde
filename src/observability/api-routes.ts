import type { AlertsClient } from '../alerts/client.ts';
import type { CloudClient } from '../cloud/client.ts';

/** The operations of each API. A new method of a client does not compile without its route. */
export interface ApiOperations {
  readonly cloud: Exclude<keyof CloudClient, 'close'>;
  readonly alerts: Exclude<keyof AlertsClient, 'close'>;
}
export type Api = keyof ApiOperations;

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
  },
  alerts: {
    listAlerts: ALERTS,
    getAlert: `${ALERTS}/{id}`,
    updateAlert: `${ALERTS}/{id}`,
  },
};

/** The URL template of an operation, or `other` for an unknown name. */
export function routeOf(api: Api, operation: string): string {
  const routes: Readonly<Record<string, string>> = ROUTES[api];
  return routes[operation] ?? 'other';
}
