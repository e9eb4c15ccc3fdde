const ORGANIZATION = '/v1/organizations/{organizationId}';
const SERVICE = `${ORGANIZATION}/services/{serviceId}`;
const ALERTS = '/api/v2/alerts';

/** The paths of the ten operations, without the ids that would make each request one of a kind. */
const ROUTES: Readonly<Record<string, string>> = {
  createService: `${ORGANIZATION}/services`,
  createReversePrivateEndpoint: `${SERVICE}/pipesReversePrivateEndpoints`,
  updateReplicaScaling: `${SERVICE}/replicaScaling`,
  updateServiceState: `${SERVICE}/state`,
  getUsageCost: `${ORGANIZATION}/usageCost`,
  getPipeSettings: `${SERVICE}/pipes/{pipeId}/settings`,
  getBackup: `${SERVICE}/backups/{backupId}`,
  listAlerts: ALERTS,
  getAlert: `${ALERTS}/{id}`,
  updateAlert: `${ALERTS}/{id}`,
};

export function routeOf(operation: string): string {
  return ROUTES[operation] ?? 'other';
}
