import type { JsonObject } from '../changes/change.ts';
import type { Service } from '../cloud/replies.ts';
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

  const fields: JsonObject = Object.fromEntries(
    SHOWN.flatMap((key) => (result[key] === null ? [] : [[key, result[key]]])),
  );
  const reported = result.state === null ? [] : [result.state];
  return { requestId, reported, learned: { id, name: result.name ?? name, fields } };
}
