import type { Json, JsonObject } from '../base/text.ts';
import type { Day } from '../base/time.ts';
import { median, quantile } from './numbers.ts';
import type { DayValue } from './rows.ts';
import { historyOf, isCost, levelOf } from './statistics.ts';

// What a change of a service costs or saves: estimated before it, and measured after it.

/** The size limits of a service, from the last reply of the API. */
export interface Scaling {
  readonly minReplicaMemoryGb: number;
  readonly maxReplicaMemoryGb: number;
  readonly numReplicas: number;
  readonly idleScaling: boolean;
}

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

export function isFixed({ minReplicaMemoryGb, maxReplicaMemoryGb, idleScaling }: Scaling): boolean {
  return minReplicaMemoryGb === maxReplicaMemoryGb && !idleScaling;
}

const SCALING_FIELDS = ['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'numReplicas', 'idleScaling'];

/** Whether a body changes a field that the cost estimate uses; an idle timeout does not. */
export function changesScaling(body: JsonObject): boolean {
  return SCALING_FIELDS.some((field) => body[field] !== undefined);
}

/** Provider, region and tier, which determine the price of a GB-hour; null if one is unknown. */
export function priceArea(fields: JsonObject | undefined): string | null {
  const parts = [fields?.provider, fields?.region, fields?.tier];
  return parts.every((part) => typeof part === 'string' && part !== '') ? parts.join(' ') : null;
}

/** The compute cost of one service on one day, with its fixed size on the whole day. */
export interface SizedDay extends Pick<DayValue, 'value' | 'final'> {
  readonly scaling: Scaling;
}

/** Credits per GB-hour; null with too few days that show it. */
export type UnitPrice = number | null;

const LEAST_PRICED_DAYS = 3;
const HOURS = 24;

/**
 * k = median(compute / (24 · replicas · memory)) in credits per GB-hour, over final days of a fixed
 * size: min = max, no idling. `days` may contain several services of the same provider,
 * region and tier, which have the same price. Source: docs/costs.md#unit-price.
 */
export function unitPrice(days: readonly SizedDay[]): UnitPrice {
  const prices = days.flatMap(({ value, final, scaling }) => {
    if (!final || !isCost(value)) return [];
    const gbHours = HOURS * scaling.numReplicas * scaling.maxReplicaMemoryGb;
    return gbHours > 0 && value > 0 ? [value / gbHours] : [];
  });
  return prices.length < LEAST_PRICED_DAYS ? null : median(prices);
}

/** The estimated effect of a change on the compute cost of one service, in credits; negative if it saves. */
export type CostChange =
  | {
      readonly known: true;
      readonly perDay: Estimate;
      readonly basis: EffectBasis;
      readonly days: number;
    }
  | { readonly known: false; readonly why: UnknownEffect };

interface Estimate {
  readonly about: number;
  readonly low: number;
  readonly high: number;
}

/** Past days only; past days and the ratio of two fixed sizes; or size limits and the price of a GB-hour. */
export type EffectBasis = 'past-days' | 'fixed-size' | 'unit-price';
type UnknownEffect = 'too-few-days' | 'size-not-known' | 'price-not-known';

/**
 * A stop saves the level of the last two weeks (`levelOf`); the range is from the 10th to the
 * 90th percentile of these days. Storage and backups continue and are not included.
 * Source: docs/costs.md#estimated-effect.
 */
export function stopEffect(compute: readonly DayValue[], today: Day): CostChange {
  const usual = usualOf(compute, today);
  if (!usual) return notKnown('too-few-days');
  return effect(times(usual, -1), usual.days, 'past-days');
}

/** A start restores the level of the last 14 days with costs. Source: docs/costs.md#estimated-effect. */
export function startEffect(compute: readonly DayValue[], today: Day): CostChange {
  const usual = usualOf(
    compute.filter(({ value }) => value > 0),
    today,
  );
  return usual ? effect(usual, usual.days, 'past-days') : notKnown('too-few-days');
}

/**
 * From a fixed size to a fixed size, both without idling: level · (R′M′ / RM − 1). Otherwise with k:
 * G = level / 24k is the average size of all replicas together, and the expected cost is
 * 24 · k · R′ · clamp(G / R′, min′, max′), without the lower limit if idling stays on. The range is
 * from the lower to the upper limit. The autoscaler decides the real size.
 * Source: docs/costs.md#estimated-effect.
 */
export function scaleEffect(
  compute: readonly DayValue[],
  sizes: { readonly before: Scaling | null; readonly after: Scaling | null },
  price: UnitPrice,
  today: Day,
): CostChange {
  const usual = usualOf(compute, today);
  const { before, after } = sizes;
  if (!usual) return notKnown('too-few-days');
  if (!before || !after || !(gbOf(before) > 0)) return notKnown('size-not-known');
  if (isFixed(before) && isFixed(after)) {
    const ratio = gbOf(after) / gbOf(before);
    return effect(times(usual, ratio - 1), usual.days, 'fixed-size');
  }
  if (price === null) return notKnown('price-not-known');

  const perDay = scaledBetween(usual.about, after, price);
  return effect(perDay, usual.days, 'unit-price');
}

function scaledBetween(level: number, after: Scaling, price: number): Estimate {
  const perGb = HOURS * price * after.numReplicas;
  const low = after.idleScaling ? 0 : perGb * after.minReplicaMemoryGb;
  const high = perGb * after.maxReplicaMemoryGb;
  const expected = Math.min(Math.max(level, low), high);
  return { about: expected - level, low: low - level, high: high - level };
}

function gbOf({ numReplicas, maxReplicaMemoryGb }: Scaling): number {
  return numReplicas * maxReplicaMemoryGb;
}

/** With less than a week, some weekdays are missing. */
const LEAST_USUAL_DAYS = 7;
const LOW_SHARE = 0.1;
const HIGH_SHARE = 0.9;

interface Usual extends Estimate {
  readonly days: number;
}

function usualOf(compute: readonly DayValue[], today: Day): Usual | null {
  const history = historyOf(compute, today);
  if (history.length < LEAST_USUAL_DAYS) return null;
  const { value, days } = levelOf(history);
  const window = history.slice(-days).map((day) => day.value);
  const low = Math.min(value, quantile(window, LOW_SHARE));
  const high = Math.max(value, quantile(window, HIGH_SHARE));
  return { about: value, low, high, days };
}

function effect(
  { about, low, high }: Estimate,
  days: number,
  basis: EffectBasis,
): CostChange & { known: true } {
  return { known: true, perDay: { about, low, high }, basis, days };
}

/** A negative factor swaps the ends of the range. */
function times({ about, low, high }: Estimate, factor: number): Estimate {
  const ends = [low * factor, high * factor];
  return { about: about * factor, low: Math.min(...ends), high: Math.max(...ends) };
}

function notKnown(why: UnknownEffect): CostChange {
  return { known: false, why };
}
