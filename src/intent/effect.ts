import type { Json, JsonObject } from '../changes/change.ts';
import type { Scaling } from '../costs/effect/unit-price.ts';

/** What a command does to the costs of its target. */
export type EffectKind = 'stop' | 'start' | 'scale' | 'create';

/** The bounds of a service in fields as replies name them; null unless all four are known. */
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

/** Whether a body touches what costs are estimated from: a timeout alone does not. */
export function movesBounds(body: JsonObject): boolean {
  return BOUNDS.some((field) => body[field] !== undefined);
}

/** Where the price of a GB-hour is the same; null where replies have not said it all. */
export function priceArea(fields: JsonObject | undefined): string | null {
  const parts = [fields?.provider, fields?.region, fields?.tier];
  return parts.every((part) => typeof part === 'string' && part !== '') ? parts.join(' ') : null;
}
