import type { Call, JsonObject } from '../../api/call.ts';
import { effectOf } from '../../api/effects.ts';
import { password, uuid } from '../../api/random.ts';
import type { Reply } from '../../api/reply.ts';
import { fieldProblem } from '../body-rules.ts';
import { badRequest, success } from '../replies.ts';
import { serviceReply } from '../service-reply.ts';
import type { CloudWorld, Scaling, ServiceRecord } from '../state.ts';
import { readBody } from '../targets.ts';
import { createProblem } from './create-rules.ts';

// Restoring a backup takes many times as long as making an empty service.
const RESTORE_FACTOR = 20;

/** Every call makes one more service, of whatever name: this API knows no idempotency. */
export function createService(world: CloudWorld, call: Call): Reply {
  const body = readBody(world, call);
  if ('refused' in body) return body.refused;
  const problem = createProblem(world, body.found) ?? backupProblem(world, body.found);
  if (problem !== null) return badRequest(world, problem);

  const service = created(world, body.found);
  if (service.isPrimary) addWarehouse(world, service);
  world.services.set(service.id, service);
  world.effects.record(effectOf(call, service.id, world.now()));
  const result = { service: serviceReply(world, service), password: password(world.chance) };
  return success(world, result);
}

function created(world: CloudWorld, body: JsonObject): ServiceRecord {
  const now = world.now();
  const { provision } = world.behaviour.durations;
  const takesMs = body.backupId === undefined ? provision : provision * RESTORE_FACTOR;
  const scaling = scalingOf(world, body);
  return {
    id: uuid(world.chance),
    name: String(body.name ?? 'My service'),
    warehouseId: String(body.dataWarehouseId ?? uuid(world.chance)),
    provider: String(body.provider ?? 'aws'),
    region: String(body.region ?? 'us-east-1'),
    state: 'provisioning',
    transition: { to: 'running', at: new Date(now.getTime() + takesMs) },
    isPrimary: body.dataWarehouseId === undefined,
    isReadonly: body.isReadonly === true,
    autoscaling: 'vertical',
    scaling,
    scaledFrom: null,
    createdAt: now,
    given: body,
    usage: {
      computeCredits: (scaling.minReplicaMemoryGb / 8) * scaling.numReplicas * 2,
      transferCredits: 0.1,
      rhythm: 'steady',
    },
    pauses: [],
  };
}

function scalingOf({ organization }: CloudWorld, body: JsonObject): Scaling {
  const min = Number(body.minReplicaMemoryGb ?? 8);
  return {
    minReplicaMemoryGb: min,
    maxReplicaMemoryGb: Number(body.maxReplicaMemoryGb ?? Math.max(min, 32)),
    numReplicas: Number(body.numReplicas ?? (organization.tier === 'basic' ? 1 : 3)),
    idleScaling: body.idleScaling !== false,
    idleTimeoutMinutes: Number(body.idleTimeoutMinutes ?? 15),
  };
}

function addWarehouse(world: CloudWorld, { warehouseId, name, createdAt }: ServiceRecord): void {
  const dailyCredits = { storage: 0.1, backup: 0.05 };
  world.warehouses.set(warehouseId, { id: warehouseId, name, dailyCredits, createdAt });
}

// A backup lands only where it came from: same region, same tier.
function backupProblem(world: CloudWorld, { backupId, region, tier }: JsonObject): string | null {
  if (backupId === undefined) return null;
  const backup = world.backups.get(String(backupId));
  const original = backup && world.services.get(backup.serviceId);
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
