import type { Json, JsonObject } from '../../base/text.ts';
import type { CloudService } from '../../cloud/replies.ts';

/**
 * The scaling that the server applies now, under the names of the requested fields, with the name of
 * the schedule entry that causes a difference. Null if the reply has no applied values.
 * Source: docs/apis.md#services
 */
export function appliedScaling(service: CloudService): JsonObject | null {
  const { currentScaling: now } = service;
  if (now === null) return null;
  const { effectiveMinReplicas: least, effectiveMaxReplicas: most } = now;
  const values = {
    autoscalingMode: now.effectiveAutoscalingMode,
    minReplicaMemoryGb: now.effectiveMinReplicaMemoryGb,
    maxReplicaMemoryGb: now.effectiveMaxReplicaMemoryGb,
    // Old services have an unequal pair in vertical mode, which is no number of replicas.
    numReplicas: least === most ? least : null,
    minReplicas: least,
    maxReplicas: most,
    idleScaling: now.effectiveIdleScaling,
    idleTimeoutMinutes: now.effectiveIdleTimeoutMinutes,
  };
  const known = Object.entries(values).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(known), scheduleEntry: activeEntry(service) };
}

/** The fields whose applied value differs from the given one; fields without both do not count. */
export function notApplied(
  fields: JsonObject,
  applied: JsonObject | null,
): readonly (readonly [field: string, applied: Json])[] {
  return Object.entries(applied ?? {}).filter(([field, now]) => {
    const wanted = fields[field];
    return wanted !== undefined && wanted !== null && String(wanted) !== String(now);
  });
}

const LONGEST_NAME = 60;
const LONGEST_SETTING = 60;

/** The value of a field as users read it: `on` for true. */
export function settingText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value).slice(0, LONGEST_SETTING);
}

function activeEntry({ currentScaling, scalingSchedule }: CloudService): string | null {
  const id = currentScaling?.activeEntryId ?? null;
  if (id === null) return null;
  const { name } = scalingSchedule?.entries?.find((entry) => entry.id === id) ?? {};
  return typeof name === 'string' && name !== ''
    ? `“${name.slice(0, LONGEST_NAME)}”`
    : id.slice(0, 8);
}
