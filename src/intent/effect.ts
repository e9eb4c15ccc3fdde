import type { Json, JsonObject } from '../base/text.ts';
import type { Scaling } from '../costs/effect/unit-price.ts';

/** The scaling of a service, from reply fields; null unless all four fields are known. */
export function scalingOf(fields: JsonObject | undefined): Scaling | null {
  const { minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas, idleScaling } = fields ?? {};
  const sizes = [minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas].filter(isSize);
  const [min, max, replicas] = sizes;
  if (min === undefined || max === undefined || replicas === undefined) return null;
  if (typeof idleScaling !== 'boolean') return null;
  return {
    minReplicaMemoryGb: min,
    maxReplicaMemoryGb: max,
    numReplicas: replicas,
    idleScaling,
  };
}

function isSize(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

const BOUNDS = ['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'numReplicas', 'idleScaling'];

/** Whether a body changes a field that the cost estimate uses; an idle timeout does not. */
export function changesScaling(body: JsonObject): boolean {
  return BOUNDS.some((field) => body[field] !== undefined);
}

/** Provider, region and tier, which determine the price of a GB-hour; null if one is unknown. */
export function priceArea(fields: JsonObject | undefined): string | null {
  const parts = [fields?.provider, fields?.region, fields?.tier];
  return parts.every((part) => typeof part === 'string' && part !== '') ? parts.join(' ') : null;
}
