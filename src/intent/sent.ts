import type { JsonObject } from '../changes/change.ts';
import type { CreatedService, ReversePrivateEndpoint, Service } from '../cloud/replies.ts';
import type { Reply } from '../http.ts';
import type { Sent } from './define.ts';

// What may be kept and shown of a service. Keys, roles and address lists are not among it.
const SHOWN = [
  'state',
  'provider',
  'region',
  'tier',
  'engineVersion',
  'minReplicaMemoryGb',
  'maxReplicaMemoryGb',
  'numReplicas',
  'idleScaling',
  'idleTimeoutMinutes',
  'isPrimary',
  'isReadonly',
  'dataWarehouseId',
  'releaseChannel',
] as const;

/** A reply that holds a service, for the target it was asked of. It proves no completion. */
export function sentService(id: string, name: string, reply: Reply<Service | null>): Sent {
  const { result, requestId } = reply;
  if (!result) return { requestId, reported: [], learned: null };

  const fields = factsOf(result);
  const reported = result.state === null ? [] : [result.state];
  return { requestId, reported, learned: { id, name: result.name ?? name, fields } };
}

function factsOf(service: Service): JsonObject {
  return Object.fromEntries(
    SHOWN.flatMap((key) => (service[key] === null ? [] : [[key, service[key]]])),
  );
}

/** A created service with the password that is shown once. Without a result: no details. */
export function sentCreation({ result, requestId }: Reply<CreatedService | null>): Sent {
  const service = result?.service ?? null;
  if (!service?.id) {
    return { requestId, reported: [], learned: null, secret: result?.password ?? null };
  }
  const learned = { id: service.id, name: service.name ?? service.id, fields: factsOf(service) };
  const endpoints = (service.endpoints ?? []).map(
    ({ protocol, host, port }) => `${protocol ?? 'endpoint'} ${host ?? '?'}:${port ?? '?'}`,
  );
  const state = service.state === null ? [] : [service.state];
  const reported = [...state, `id ${service.id}`, ...endpoints];
  return { requestId, reported, learned, secret: result?.password ?? null };
}

export function sentEndpoint({ result, requestId }: Reply<ReversePrivateEndpoint | null>): Sent {
  if (!result) return { requestId, reported: [], learned: null };
  const { id, endpointId, status, dnsNames, privateDnsNames } = result;
  const facts: readonly (readonly [string, string | null])[] = [
    ['status', status],
    ['id', id],
    ['endpoint', endpointId],
    ['DNS', dnsNames?.join(' ') || null],
    ['private DNS', privateDnsNames?.join(' ') || null],
  ];
  const reported = facts.flatMap(([label, value]) => (value === null ? [] : [`${label} ${value}`]));
  return { requestId, reported, learned: null };
}
