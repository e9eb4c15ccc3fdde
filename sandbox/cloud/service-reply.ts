import type { Json } from '../json.ts';
import type { CloudState, Scaling, ServiceRecord } from './state.ts';

const CONTRACT_FIELDS: readonly string[] = [
  ...['id', 'name', 'engineVersion', 'endpoints', 'minTotalMemoryGb', 'maxTotalMemoryGb'],
  ...['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'numReplicas', 'idleScaling'],
  ...['idleTimeoutMinutes', 'ipAccessList', 'createdAt', 'encryptionKey'],
  ...['encryptionAssumedRoleIdentifier', 'iamRole', 'privateEndpointIds'],
  ...['availablePrivateEndpointIds', 'dataWarehouseId', 'isPrimary', 'isReadonly', 'byocId'],
  ...['hasTransparentDataEncryption', 'transparentDataEncryptionKeyId', 'encryptionRoleId'],
];

/** The service in a reply; the profile `contract` has no state, provider or region. */
export function serviceReply(cloud: CloudState, service: ServiceRecord): Json {
  const all = { ...contractPart(service), ...serverPart(service) };
  return cloud.profile === 'full' ? all : pick(all, CONTRACT_FIELDS);
}

function contractPart(service: ServiceRecord): Json {
  const { id, given } = service;
  return {
    id,
    name: service.name,
    engineVersion: '26.8',
    endpoints: endpointsOf(service),
    ...sizes(service, service.scaling),
    ipAccessList: given.ipAccessList ?? [],
    createdAt: service.createdAt.toISOString(),
    ...pick(given, ['encryptionKey', 'encryptionAssumedRoleIdentifier', 'byocId']),
    iamRole: `role-${id.slice(0, 8)}`,
    privateEndpointIds: given.privateEndpointIds ?? [],
    availablePrivateEndpointIds: [],
    dataWarehouseId: service.warehouseId,
    isPrimary: service.isPrimary,
    isReadonly: service.isReadonly,
    hasTransparentDataEncryption: given.hasTransparentDataEncryption ?? false,
  };
}

function serverPart(service: ServiceRecord): Json {
  const effective = service.scaledFrom?.scaling ?? service.scaling;
  return {
    provider: service.provider,
    region: service.region,
    state: service.state,
    autoscalingMode: service.autoscaling,
    currentScaling: sizes(service, effective),
    ...pick(service.given, ['tier', 'profile', 'complianceType']),
    releaseChannel: service.given.releaseChannel ?? 'default',
    tags: [],
  };
}

// Servers omit the number of replicas of a service with a range of replicas, and the idle timeout
// of a service that does not idle. Totals always count three replicas.
function sizes({ autoscaling }: ServiceRecord, scaling: Scaling): Json {
  const { numReplicas, idleTimeoutMinutes, ...rest } = scaling;
  const replicas =
    autoscaling === 'vertical'
      ? { numReplicas }
      : { minReplicas: numReplicas, maxReplicas: numReplicas + 2 };
  return {
    ...rest,
    ...replicas,
    ...(scaling.idleScaling ? { idleTimeoutMinutes } : {}),
    minTotalMemoryGb: scaling.minReplicaMemoryGb * 3,
    maxTotalMemoryGb: scaling.maxReplicaMemoryGb * 3,
  };
}

function endpointsOf({ id, region, given }: ServiceRecord): readonly Json[] {
  const host = `${id.slice(0, 8)}.${region}.db.example`;
  const requested = Array.isArray(given.endpoints) ? given.endpoints : [];
  const hasMysql = requested.some((one) => one.protocol === 'mysql' && one.enabled === true);
  return [
    { protocol: 'https', host, port: 8443 },
    { protocol: 'nativesecure', host, port: 9440, username: 'default' },
    ...(hasMysql ? [{ protocol: 'mysql', host, port: 3306, username: `mysql-${id}` }] : []),
  ];
}

/** The fields that are present. */
export function pick(from: Json, fields: readonly string[]): Json {
  const present = fields.filter((field) => from[field] !== undefined);
  return Object.fromEntries(present.map((field) => [field, from[field]]));
}
