import { median } from '../forecast/robust.ts';
import { isCost } from '../forecast/series.ts';

/** The size limits of a service, from the last reply of the API. */
export interface Scaling {
  readonly minReplicaMemoryGb: number;
  readonly maxReplicaMemoryGb: number;
  readonly numReplicas: number;
  readonly idleScaling: boolean;
}

/** The compute cost of one service on one day, with the size limits of the whole day. */
export interface SizedDay {
  /** Credits of compute. */
  readonly value: number;
  /** Final, or not moved for two days. */
  readonly settled: boolean;
  /** Whether the service was changed, started or stopped on that day. */
  readonly changed: boolean;
  readonly scaling: Scaling | null;
}

export type UnitPrice =
  | { readonly ok: true; readonly creditsPerGbHour: number; readonly days: number }
  | { readonly ok: false; readonly why: 'too-few-days-of-fixed-size'; readonly days: number };

const LEAST_DAYS = 3;
export const HOURS = 24;

/**
 * k = median(compute / (24 · replicas · memory)) in credits per GB-hour, over settled days of a fixed
 * size: min = max, no idling, no change. `days` may contain several services of the same provider,
 * region and tier, which have the same price. Source: docs/costs.md#unit-price.
 */
export function unitPrice(days: readonly SizedDay[]): UnitPrice {
  const prices = days.flatMap(({ value, settled, changed, scaling }) => {
    if (!settled || changed || !scaling || !isCost(value) || !isFixed(scaling)) return [];
    const gbHours = HOURS * scaling.numReplicas * scaling.maxReplicaMemoryGb;
    return gbHours > 0 && value > 0 ? [value / gbHours] : [];
  });
  if (prices.length < LEAST_DAYS) {
    return { ok: false, why: 'too-few-days-of-fixed-size', days: prices.length };
  }
  return { ok: true, creditsPerGbHour: median(prices), days: prices.length };
}

export function isFixed({ minReplicaMemoryGb, maxReplicaMemoryGb, idleScaling }: Scaling): boolean {
  return minReplicaMemoryGb === maxReplicaMemoryGb && !idleScaling;
}
