import type { Json, JsonObject } from '../../base/text.ts';

/** `16–64 GB`; null if neither bound is known. The fields are those of a service or a snapshot. */
export function memoryText(fields: JsonObject): string | null {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max, replicaMemoryGb, approximate } = fields;
  const memory = rangeText(min, max) ?? rangeText(replicaMemoryGb, replicaMemoryGb);
  if (memory !== null) return `${memory} GB`;
  const about = isFields(approximate) ? memoryText(approximate) : null;
  return about && `about ${about}`;
}

/** `3`, or `2–6` for a service that scales the number of replicas; null if it is unknown. */
export function replicasText(fields: JsonObject): string | null {
  const isHorizontal = fields.autoscalingMode === 'horizontal';
  if (isHorizontal) return rangeText(fields.minReplicas, fields.maxReplicas);
  return rangeText(fields.numReplicas, fields.numReplicas);
}

/** `16–64 GB × 3 replicas`: the memory of each replica and their number; null if both are unknown. */
export function sizeText(fields: JsonObject): string | null {
  const replicas = replicasText(fields);
  const count = replicas && `${replicas} ${replicas === '1' ? 'replica' : 'replicas'}`;
  return [memoryText(fields), count].filter((text) => text !== null).join(' × ') || null;
}

/**
 * The size that applies now, and the requested one where the two differ:
 * `64 GB × 3 replicas (scaling schedule entry “Business hours”), otherwise 16–64 GB × 3 replicas`.
 */
export function currentSizeText(fields: JsonObject): string | null {
  const requested = sizeText(fields);
  const applied = appliedFields(fields);
  const now = applied && sizeText(applied);
  if (!now || requested === null) return now || requested;
  if (!differs(memoryText, fields, applied) && !differs(replicasText, fields, applied)) {
    return requested;
  }
  const entry = applied.scheduleEntry;
  return entry
    ? `${now} (scaling schedule entry ${entry}), otherwise ${requested}`
    : `${now}, changing to ${requested}`;
}

/** A part that one side does not have is no difference. */
function differs(part: (of: JsonObject) => string | null, one: JsonObject, other: JsonObject) {
  const [a, b] = [part(one), part(other)];
  return a !== null && b !== null && a !== b;
}

/** The fields that apply now; null if the server does not report them. */
export function appliedFields({ applied }: JsonObject): JsonObject | null {
  return isFields(applied) ? applied : null;
}

function rangeText(min: Json | undefined, max: Json | undefined): string | null {
  if ((min ?? null) === null && (max ?? null) === null) return null;
  return [...new Set([min, max])].map((bound) => bound ?? '?').join('–');
}

function isFields(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
