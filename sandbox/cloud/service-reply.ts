import { type Json, pick } from '../json.ts';
import { activeEntry, appliedScaling } from './schedule.ts';
import { scheduleReply } from './schedule-reply.ts';
import type { CloudState, Scaling, ServiceRecord } from './state.ts';

const CONTRACT_FIELDS: readonly string[] = [
  ...['id', 'name', 'engineVersion', 'endpoints', 'minTotalMemoryGb', 'maxTotalMemoryGb'],
  ...['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'numReplicas', 'idleScaling'],
  ...['idleTimeoutMinutes', 'ipAccessList', 'createdAt', 'encryptionKey'],
  ...['encryptionAssumedRoleIdentifier', 'iamRole', 'privateEndpointIds'],
  ...['availablePrivateEndpointIds', 'dataWarehouseId', 'isPrimary', 'isReadonly', 'byocId'],
  ...['hasTransparentDataEncryption', 'transparentDataEncryptionKeyId', 'encryptionRoleId'],
];
const GENERATION_3 = ['currentScaling', 'scalingSchedule'];
const GENERATION_4 = ['autoscalingMode', 'minReplicas', 'maxReplicas', 'replicaMemoryGb'];

/**
 * The service in the reply to a write or to a read; the profile `contract` has no state, provider
 * or region, and an older server does not have the newest fields.
 */
export function serviceReply(cloud: CloudState, service: ServiceRecord): Json {
  const all = { ...contractPart(service), ...serverPart(cloud, service) };
  if (cloud.profile === 'contract') return pick(all, CONTRACT_FIELDS);
  const { serviceGeneration } = cloud.behaviour;
  const missing = [
    ...(serviceGeneration < 4 ? GENERATION_4 : []),
    ...(serviceGeneration < 3 ? GENERATION_3 : []),
  ];
  return pick(
    all,
    Object.keys(all).filter((field) => !missing.includes(field)),
  );
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

function serverPart(cloud: CloudState, service: ServiceRecord): Json {
  const { given, schedule } = service;
  return {
    provider: service.provider,
    region: service.region,
    state: service.state,
    autoscalingMode: service.autoscaling,
    currentScaling: appliedReply(service, cloud.now()),
    ...(schedule.length > 0 ? { scalingSchedule: scheduleReply(service, cloud.now()) } : {}),
    ...pick(given, ['tier', 'profile', 'complianceType']),
    releaseChannel: given.releaseChannel ?? 'default',
    enableCoreDumps: true,
    tags: service.tags,
  };
}

/** The values applied now, under the names of live servers. */
function appliedReply(service: ServiceRecord, now: Date): Json {
  const applied = appliedScaling(service, now);
  const entry = activeEntry(service, now);
  const [least, most] = replicaRange(service, applied);
  return {
    effectiveAutoscalingMode: service.autoscaling,
    effectiveMinReplicaMemoryGb: applied.minReplicaMemoryGb,
    effectiveMaxReplicaMemoryGb: applied.maxReplicaMemoryGb,
    effectiveMinReplicas: least,
    effectiveMaxReplicas: most,
    effectiveIdleScaling: applied.idleScaling,
    ...(applied.idleScaling ? { effectiveIdleTimeoutMinutes: applied.idleTimeoutMinutes } : {}),
    ...(entry === null ? {} : { activeEntryId: entry.id }),
  };
}

// Servers omit the number of replicas and the totals of a service with a range of replicas, and the
// idle timeout of a service that does not idle. Totals always count three replicas.
function sizes(service: ServiceRecord, scaling: Scaling): Json {
  const { numReplicas, idleTimeoutMinutes, ...rest } = scaling;
  const idle = scaling.idleScaling ? { idleTimeoutMinutes } : {};
  if (service.autoscaling === 'vertical') {
    const minTotalMemoryGb = scaling.minReplicaMemoryGb * 3;
    const maxTotalMemoryGb = scaling.maxReplicaMemoryGb * 3;
    return { ...rest, numReplicas, ...idle, minTotalMemoryGb, maxTotalMemoryGb };
  }
  const [minReplicas, maxReplicas] = replicaRange(service, scaling);
  const replicaMemoryGb = scaling.minReplicaMemoryGb;
  return { ...rest, minReplicas, maxReplicas, replicaMemoryGb, ...idle };
}

function replicaRange({ autoscaling }: ServiceRecord, { numReplicas }: Scaling) {
  return [numReplicas, autoscaling === 'vertical' ? numReplicas : numReplicas + 2] as const;
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
