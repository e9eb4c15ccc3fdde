import type { Call, JsonObject } from '../../api/call.ts';
import { effectOf } from '../../api/effects.ts';
import type { Reply } from '../../api/reply.ts';
import { fieldProblem, flag, numberFrom, problemIn } from '../body-rules.ts';
import { badRequest, refusal, success } from '../replies.ts';
import { pick, serviceReply } from '../service-reply.ts';
import type { CloudWorld, Scaling, ServiceRecord } from '../state.ts';
import { findService, readBody } from '../targets.ts';

export const SCALING_RULES = {
  minReplicaMemoryGb: numberFrom({ min: 8, max: 356, step: 4 }),
  maxReplicaMemoryGb: numberFrom({ min: 8, max: 356, step: 4 }),
  numReplicas: numberFrom({ min: 1, max: 20, step: 1 }),
  idleScaling: flag,
  idleTimeoutMinutes: numberFrom({ min: 5 }),
};

const FREE_MEMORY_GB = 120;

export function scale(world: CloudWorld, call: Call): Reply {
  const target = findService(world, call);
  if ('refused' in target) return target.refused;
  const body = readBody(world, call);
  if ('refused' in body) return body.refused;
  const before = target.found;
  const sent = pick(body.found, Object.keys(SCALING_RULES));
  const refused = refuse(world, before, body.found, sent);
  if (refused !== null) return refused;
  if (Object.keys(sent).length === 0) return success(world, serviceReply(world, before));

  const after = scaled(world, before, sent);
  world.services.set(after.id, after);
  world.effects.record(effectOf(call, after.id, world.now()));
  const showsOld = world.behaviour.scalingReply === 'old values' || call.fault === 'stale-state';
  return success(world, serviceReply(world, showsOld ? before : after));
}

function scaled(world: CloudWorld, before: ServiceRecord, sent: JsonObject): ServiceRecord {
  const until = new Date(world.now().getTime() + world.behaviour.durations.scale);
  const effective = before.scaledFrom?.scaling ?? before.scaling;
  return {
    ...before,
    scaling: merged(before.scaling, sent),
    scaledFrom: { scaling: effective, until },
  };
}

// The rules above checked the type of every field that was sent.
function merged(scaling: Scaling, sent: JsonObject): Scaling {
  return { ...scaling, ...(sent as Partial<Scaling>) };
}

function refuse(
  world: CloudWorld,
  service: ServiceRecord,
  body: JsonObject,
  sent: JsonObject,
): Reply | null {
  const { behaviour } = world;
  const problem = problemIn(body, SCALING_RULES, behaviour);
  if (problem !== null) return badRequest(world, problem);
  if (Object.keys(sent).length === 0 && behaviour.emptyPatch === 'refused') {
    return badRequest(world, 'request body: nothing to change');
  }
  if (sent.numReplicas !== undefined && behaviour.replicaEntitlement !== 'granted') {
    return notEntitled(world, behaviour.replicaEntitlement);
  }
  const misfit = misfitOf(world, service, sent);
  return misfit === null ? null : badRequest(world, misfit);
}

function notEntitled(world: CloudWorld, status: 400 | 403): Reply {
  const code = status === 403 ? 'FORBIDDEN' : 'BAD_REQUEST';
  return refusal(world, status, `${code}: Contact support to enable adjustment of numReplicas`);
}

/** What is valid by itself, but not for this service. */
function misfitOf(world: CloudWorld, service: ServiceRecord, sent: JsonObject): string | null {
  const after = merged(service.scaling, sent);
  const { numReplicas } = sent;
  if (service.autoscaling === 'horizontal') {
    if (numReplicas !== undefined) {
      return fieldProblem('numReplicas', 'cannot be set with horizontal scaling', numReplicas);
    }
    if (after.minReplicaMemoryGb !== after.maxReplicaMemoryGb) {
      const text = 'must equal minReplicaMemoryGb with horizontal scaling';
      return fieldProblem('maxReplicaMemoryGb', text, after.maxReplicaMemoryGb);
    }
  }
  if (service.isPrimary && typeof numReplicas === 'number' && numReplicas < 2) {
    return fieldProblem('numReplicas', 'Number of replicas must be greater than 1', numReplicas);
  }
  return memoryMisfit(world, sent, after) ?? tierMisfit(service.given, sent);
}

export function memoryMisfit(
  world: CloudWorld,
  sent: JsonObject,
  after: Pick<Scaling, 'minReplicaMemoryGb' | 'maxReplicaMemoryGb'>,
): string | null {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = after;
  if (world.organization.plan === 'free' && Number(sent.maxReplicaMemoryGb) > FREE_MEMORY_GB) {
    const text = `The number must be ${FREE_MEMORY_GB} or less for non-paid services`;
    return fieldProblem('maxReplicaMemoryGb', text, max);
  }
  if (min <= max) return null;
  return sent.minReplicaMemoryGb === undefined
    ? fieldProblem('maxReplicaMemoryGb', 'must not be less than minReplicaMemoryGb', max)
    : fieldProblem('minReplicaMemoryGb', 'must not be greater than maxReplicaMemoryGb', min);
}

export function tierMisfit({ tier }: JsonObject, sent: JsonObject): string | null {
  if (tier !== 'development') return null;
  const fields = ['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'releaseChannel'];
  const field = fields.find((name) => sent[name] !== undefined);
  return field === undefined
    ? null
    : fieldProblem(field, 'only for production services', sent[field]);
}
