import type { JsonObject } from '../../base/text.ts';
import type { ServiceReading } from '../../cloud/reads/service-reading.ts';
import type { CloudService } from '../../cloud/replies.ts';
import type { Snapshot } from '../../domain/change.ts';
import { appliedScaling } from '../arguments/applied-scaling.ts';

// The fields of a service that may be stored and shown; not keys, roles or access lists.
const SHOWN = [
  'state',
  'provider',
  'region',
  'tier',
  'engineVersion',
  'minReplicaMemoryGb',
  'maxReplicaMemoryGb',
  'numReplicas',
  'autoscalingMode',
  'minReplicas',
  'maxReplicas',
  'replicaMemoryGb',
  'idleScaling',
  'idleTimeoutMinutes',
  'isPrimary',
  'isReadonly',
  'dataWarehouseId',
  'byocId',
  'hasTransparentDataEncryption',
  'releaseChannel',
  'createdAt',
] as const;

/** The known fields of a service, without those that the server did not send. */
export function serviceFacts(service: CloudService): JsonObject {
  const endpoints = (service.endpoints ?? []).flatMap(endpointText);
  const applied = appliedScaling(service);
  return Object.fromEntries([
    ...SHOWN.flatMap((key) => (service[key] === null ? [] : [[key, service[key]] as const])),
    ...(applied === null ? [] : [['applied', applied] as const]),
    ...(endpoints.length > 0 ? [['endpoints', endpoints] as const] : []),
  ]);
}

/** The protocol, the address and the user name of an endpoint in a reply. */
export function endpointText({ protocol, host, port, username }: Record<string, unknown>) {
  if (!isPlain(host)) return [];
  const address = isPlain(port) ? `${host}:${port}` : `${host}`;
  const words = [protocol, address, isPlain(username) && username !== '' && `as ${username}`];
  return [words.filter(Boolean).join(' ')];
}

export function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** The source of a snapshot that was read for its change. */
const READ_SOURCE = 'read from the server';

/**
 * A service that was read now, as a snapshot without addresses. Servers with a range of replicas may
 * send one memory size instead of two bounds, and older ones totals, from which no bound is exact.
 */
export function serviceSnapshot(service: ServiceReading, readAt: Date): Snapshot {
  const { baseline } = service;
  const size = baseline && {
    minReplicaMemoryGb: baseline.minMemoryGb,
    maxReplicaMemoryGb: baseline.maxMemoryGb,
  };
  const bounds = withoutNull(size ?? {});
  const extra = baseline?.isApproximate ? { approximate: bounds } : bounds;
  const fields = { ...extra, ...serviceFacts({ ...service, endpoints: null }) };
  return { fields, seenAt: readAt, source: READ_SOURCE, wasRead: true };
}

function withoutNull(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}
