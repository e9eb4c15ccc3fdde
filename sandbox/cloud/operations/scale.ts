import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { type Json, pick } from '../../json.ts';
import { keyOfCall, recordActivity, scalingTypes } from '../activity-log.ts';
import { booleanRule, fieldProblem, numberFrom, problemIn } from '../body-rules.ts';
import { refuseProblem, success } from '../replies.ts';
import { serviceReply } from '../service-reply.ts';
import type { CloudState, Scaling, ServiceRecord } from '../state.ts';
import { findService, readBody } from '../targets.ts';

export const SCALING_RULES = {
  minReplicaMemoryGb: numberFrom({ min: 8, max: 356, step: 4 }),
  maxReplicaMemoryGb: numberFrom({ min: 8, max: 356, step: 4 }),
  numReplicas: numberFrom({ min: 1, max: 20, step: 1 }),
  idleScaling: booleanRule,
  idleTimeoutMinutes: numberFrom({ min: 5 }),
};

const FREE_MEMORY_GB = 120;

export function scale(cloud: CloudState, call: Call): Reply {
  const before = findService(cloud, call);
  const body = readBody(cloud, call);
  const sent = pick(body, Object.keys(SCALING_RULES));
  check(cloud, before, body, sent);
  if (Object.keys(sent).length === 0) return success(cloud, serviceReply(cloud, before));

  const after = scaled(cloud, before, sent);
  cloud.services.set(after.id, after);
  cloud.effects.record(call, after.id, cloud.now());
  for (const type of scalingTypes(Object.keys(sent))) {
    recordActivity(cloud, keyOfCall(call), { type, serviceId: after.id });
  }
  const showsOld = call.fault === 'stale-state';
  return success(cloud, serviceReply(cloud, showsOld ? before : after));
}

export function scaled(cloud: CloudState, before: ServiceRecord, sent: Json): ServiceRecord {
  const until = new Date(cloud.now().getTime() + cloud.behaviour.durations.scale);
  const effective = before.scaledFrom?.scaling ?? before.scaling;
  const scaling = merged(before.scaling, sent);
  const factor = (before.sizes.at(-1)?.factor ?? 1) * (sizeOf(scaling) / sizeOf(before.scaling));
  return {
    ...before,
    scaling,
    scaledFrom: { scaling: effective, until },
    sizes: [...before.sizes, { from: cloud.now(), factor }],
  };
}

/** The largest size: the simulated load uses what it may. */
function sizeOf({ maxReplicaMemoryGb, numReplicas }: Scaling): number {
  return maxReplicaMemoryGb * numReplicas;
}

// The rules have checked the type of each field.
function merged(scaling: Scaling, sent: Json): Scaling {
  return { ...scaling, ...(sent as Partial<Scaling>) };
}

function check(cloud: CloudState, service: ServiceRecord, body: Json, sent: Json): void {
  refuseProblem(cloud, problemIn(body, SCALING_RULES) ?? misfitOf(cloud, service, sent));
}

/** The problem with values that are valid but do not fit this service, or null. */
function misfitOf(cloud: CloudState, service: ServiceRecord, sent: Json): string | null {
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
  const needsTwo = cloud.profile === 'contract' && service.isPrimary;
  if (needsTwo && typeof numReplicas === 'number' && numReplicas < 2) {
    return fieldProblem('numReplicas', 'Number of replicas must be greater than 1', numReplicas);
  }
  if (sent.idleTimeoutMinutes !== undefined && !after.idleScaling) {
    return fieldProblem('idleTimeoutMinutes', 'needs idleScaling', sent.idleTimeoutMinutes);
  }
  return memoryMisfit(cloud, sent, after) ?? tierMisfit(service.given, sent);
}

export function memoryMisfit(
  cloud: CloudState,
  sent: Json,
  after: Pick<Scaling, 'minReplicaMemoryGb' | 'maxReplicaMemoryGb'>,
): string | null {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = after;
  if (cloud.organization.plan === 'free' && Number(sent.maxReplicaMemoryGb) > FREE_MEMORY_GB) {
    const text = `The number must be ${FREE_MEMORY_GB} or less for non-paid services`;
    return fieldProblem('maxReplicaMemoryGb', text, max);
  }
  if (min <= max) return null;
  return sent.minReplicaMemoryGb === undefined
    ? fieldProblem('maxReplicaMemoryGb', 'must not be less than minReplicaMemoryGb', max)
    : fieldProblem('minReplicaMemoryGb', 'must not be greater than maxReplicaMemoryGb', min);
}

export function tierMisfit({ tier }: Json, sent: Json): string | null {
  if (tier !== 'development') return null;
  const fields = ['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'releaseChannel'];
  const field = fields.find((name) => sent[name] !== undefined);
  return field === undefined
    ? null
    : fieldProblem(field, 'only for production services', sent[field]);
}
