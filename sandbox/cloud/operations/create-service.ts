import type { Call } from '../../api/call.ts';
import { password, uuid } from '../../api/random.ts';
import type { Reply } from '../../api/reply.ts';
import type { Json } from '../../json.ts';
import { keyOfCall, recordActivity } from '../activity-log.ts';
import { fieldProblem } from '../body-rules.ts';
import { refuseProblem, success } from '../replies.ts';
import { serviceReply } from '../service-reply.ts';
import type { CloudState, Scaling, ServiceRecord } from '../state.ts';
import { readBody } from '../targets.ts';
import { createProblem } from './create-rules.ts';

// Restoring a backup takes much longer than creating an empty service.
const RESTORE_FACTOR = 20;

/** Each call creates one more service, even with an existing name: the API is not idempotent. */
export function createService(cloud: CloudState, call: Call): Reply {
  const body = readBody(cloud, call);
  refuseProblem(cloud, createProblem(cloud, body) ?? backupProblem(cloud, body));

  const service = created(cloud, body);
  if (service.isPrimary) addWarehouse(cloud, service);
  cloud.services.set(service.id, service);
  cloud.effects.record(call, service.id, cloud.now());
  recordActivity(cloud, keyOfCall(call), { type: 'service_create', serviceId: service.id });
  const result = { service: serviceReply(cloud, service), password: password(cloud.random) };
  return success(cloud, result);
}

function created(cloud: CloudState, body: Json): ServiceRecord {
  const now = cloud.now();
  const { provision } = cloud.behaviour.durations;
  const takesMs = body.backupId === undefined ? provision : provision * RESTORE_FACTOR;
  const scaling = scalingOf(cloud, body);
  return {
    id: uuid(cloud.random),
    name: String(body.name),
    warehouseId: String(body.dataWarehouseId ?? uuid(cloud.random)),
    provider: String(body.provider),
    region: String(body.region),
    state: 'provisioning',
    transition: { to: cloud.behaviour.startsEnd, at: new Date(now.getTime() + takesMs) },
    isPrimary: body.dataWarehouseId === undefined,
    isReadonly: body.isReadonly === true,
    autoscaling: 'vertical',
    scaling,
    scaledFrom: null,
    schedule: [],
    tags: [],
    createdAt: now,
    given: body,
    usage: {
      computeCredits: (scaling.minReplicaMemoryGb / 8) * scaling.numReplicas * 2,
      transferCredits: 0.1,
      rhythm: 'steady',
    },
    pauses: [],
    sizes: [],
  };
}

function scalingOf({ organization }: CloudState, body: Json): Scaling {
  const min = Number(body.minReplicaMemoryGb ?? 8);
  return {
    minReplicaMemoryGb: min,
    maxReplicaMemoryGb: Number(body.maxReplicaMemoryGb ?? Math.max(min, 32)),
    numReplicas: Number(body.numReplicas ?? (organization.tier === 'basic' ? 1 : 3)),
    idleScaling: body.idleScaling !== false,
    idleTimeoutMinutes: Number(body.idleTimeoutMinutes ?? 15),
  };
}

function addWarehouse(cloud: CloudState, { warehouseId, name, createdAt }: ServiceRecord): void {
  const dailyCredits = { storage: 0.1, backup: 0.05 };
  cloud.warehouses.set(warehouseId, { id: warehouseId, name, dailyCredits, createdAt });
}

// A backup can be restored only in its original region and tier.
function backupProblem(cloud: CloudState, { backupId, region, tier }: Json): string | null {
  if (backupId === undefined) return null;
  const backup = cloud.backups.get(String(backupId));
  const original = backup && cloud.services.get(backup.serviceId);
  if (backup === undefined || original === undefined || backup.expired === true) {
    return fieldProblem('backupId', 'Invalid backup id', backupId);
  }
  if (region !== original.region) {
    return fieldProblem('region', 'must equal the region of the backed up service', region);
  }
  if (tier !== original.given.tier) {
    return fieldProblem('tier', 'must equal the tier of the backed up service', tier);
  }
  return null;
}
