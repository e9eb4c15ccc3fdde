import type { Json } from '../json.ts';
import { activeEntry, isActive } from './schedule.ts';
import type { Scaling, ServiceRecord } from './state.ts';

/** The scaling schedule of a service, as a field of the service and as the reply to its own read. */
export function scheduleReply(service: ServiceRecord, now: Date): Json {
  const { scaling, schedule, autoscaling } = service;
  const active = activeEntry(service, now);
  return {
    entries: schedule.map((entry) => ({
      ...entry,
      autoscalingMode: autoscaling,
      isActiveNow: isActive(entry, now),
      ...replicasAndIdling(scaling),
    })),
    baseConfig: {
      minReplicaMemoryGb: scaling.minReplicaMemoryGb,
      maxReplicaMemoryGb: scaling.maxReplicaMemoryGb,
      ...replicasAndIdling(scaling),
    },
    ...(active === null ? {} : { activeEntryId: active.id }),
  };
}

function replicasAndIdling({ numReplicas, idleScaling, idleTimeoutMinutes }: Scaling): Json {
  const idle = idleScaling ? { idleTimeoutMinutes } : {};
  return { minReplicas: numReplicas, maxReplicas: numReplicas, idleScaling, ...idle };
}
