import { median } from '../forecast/robust.ts';
import { isCost } from '../forecast/series.ts';

/** The bounds of a service, known only from replies that were seen. */
export interface Scaling {
  readonly minReplicaMemoryGb: number;
  readonly maxReplicaMemoryGb: number;
  readonly numReplicas: number;
  readonly idleScaling: boolean;
}

/** The compute of one service on one day, with the bounds that held all of it. */
export interface SizedDay {
  /** Compute, credits. */
  readonly value: number;
  readonly final: boolean;
  /** Something changed on that day, or it was started or stopped. */
  readonly changed: boolean;
  readonly scaling: Scaling | null;
}

export type UnitPrice =
  | { readonly ok: true; readonly creditsPerGbHour: number; readonly days: number }
  | { readonly ok: false; readonly why: 'too-few-days-of-fixed-size'; readonly days: number };

const LEAST_DAYS = 3;
export const HOURS = 24;

/**
 * k = median(compute / (24 · replicas · memory)) in credits per GB-hour, over final days of a fixed
 * size: min = max, no idling, nothing changed. Days of several services may be thrown together
 * when provider, region and tier are the same; elsewhere the price is another.
 * Source: docs/costs.md#unit-price.
 */
export function unitPrice(days: readonly SizedDay[]): UnitPrice {
  const prices = days.flatMap(({ value, final, changed, scaling }) => {
    if (!final || changed || !scaling || !isCost(value) || !isFixed(scaling)) return [];
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
