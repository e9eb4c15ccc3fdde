import { addDays, type Day } from '../../base/time.ts';
import { daysOfMonth } from '../forecast/forecast.ts';
import { levelOf } from '../forecast/level.ts';
import { quantile } from '../forecast/robust.ts';
import { historyOf } from '../forecast/series.ts';
import { FLAT, factorOn, type WeekdayProfile } from '../forecast/weekday.ts';
import type { DayValue } from '../ledger/row.ts';
import { HOURS, isFixed, type Scaling, type UnitPrice } from './unit-price.ts';

/** The estimated effect of a change on the compute cost of one service, in credits; negative if it saves. */
export type CostChange =
  | {
      readonly known: true;
      readonly perDay: Estimate;
      /**
       * From the next whole UTC day to the end of this month; 0 on its last day. The range of a day
       * times the number of days: wider than the real range, because deviations partly cancel out.
       */
      readonly byMonthEnd: Estimate;
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
type UnknownEffect = 'too-few-settled-days' | 'size-not-known' | 'price-not-known';

/** With less than a week, some weekdays are missing. */
const LEAST_DAYS = 7;
const LOW_SHARE = 0.1;
const HIGH_SHARE = 0.9;

/**
 * A stop saves the level of the last 14 settled days (level.ts); the range is from the 10th to the
 * 90th percentile of these days. Storage and backups continue and are not included.
 * Source: docs/costs.md#estimated-effect.
 */
export function stopEffect(compute: readonly DayValue[], today: Day): CostChange {
  const usual = usualOf(compute, today);
  if (!usual) return notKnown('too-few-settled-days');
  return effect(times(usual, -1), usual, today, 'past-days');
}

/**
 * A start restores the level of the last 14 days with costs. With fewer than seven such days, the
 * size limits apply: 24 · k · replicas · min (0 with idling) … 24 · k · replicas · max.
 * Source: docs/costs.md#estimated-effect.
 */
export function startEffect(
  compute: readonly DayValue[],
  scaling: Scaling | null,
  price: UnitPrice,
  today: Day,
): CostChange {
  const running = compute.filter(({ value }) => value > 0);
  const usual = usualOf(running, today);
  if (usual) return effect(usual, usual, today, 'past-days');
  if (!scaling) return notKnown('size-not-known');
  if (!price.ok) return notKnown('price-not-known');

  const { low, high } = boundsOf(scaling, price.creditsPerGbHour);
  const perDay = { about: (low + high) / 2, low, high };
  return effect(perDay, { profile: FLAT, days: price.days }, today, 'unit-price');
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
  if (!usual) return notKnown('too-few-settled-days');
  if (!before || !after || !(gbOf(before) > 0)) return notKnown('size-not-known');
  if (isFixed(before) && isFixed(after)) {
    const ratio = gbOf(after) / gbOf(before);
    return effect(times(usual, ratio - 1), usual, today, 'fixed-size');
  }
  if (!price.ok) return notKnown('price-not-known');

  const perDay = scaledBetween(usual.about, after, price.creditsPerGbHour);
  return effect(perDay, usual, today, 'unit-price');
}

function scaledBetween(level: number, after: Scaling, price: number): Estimate {
  const { low, high } = boundsOf(after, price);
  const expected = Math.min(Math.max(level, low), high);
  return { about: expected - level, low: low - level, high: high - level };
}

function boundsOf(scaling: Scaling, price: number): { low: number; high: number } {
  const perGb = HOURS * price * scaling.numReplicas;
  const low = scaling.idleScaling ? 0 : perGb * scaling.minReplicaMemoryGb;
  return { low, high: perGb * scaling.maxReplicaMemoryGb };
}

function gbOf({ numReplicas, maxReplicaMemoryGb }: Scaling): number {
  return numReplicas * maxReplicaMemoryGb;
}

interface Usual extends Estimate {
  readonly profile: WeekdayProfile;
  readonly days: number;
}

function usualOf(compute: readonly DayValue[], today: Day): Usual | null {
  const history = historyOf(compute, today);
  if (history.length < LEAST_DAYS) return null;
  const { value, profile, days } = levelOf(history);
  const window = history.slice(-days).map((day) => day.value);
  const low = Math.min(value, quantile(window, LOW_SHARE));
  const high = Math.max(value, quantile(window, HIGH_SHARE));
  return { about: value, low, high, profile, days };
}

function effect(
  perDay: Estimate,
  { profile, days }: Pick<Usual, 'profile' | 'days'>,
  today: Day,
  basis: EffectBasis,
): CostChange {
  const tomorrow = addDays(today, 1);
  const rest = daysOfMonth(today).filter((day) => day >= tomorrow);
  const weight = rest.reduce((sum, day) => sum + factorOn(profile, day), 0);
  const { about, low, high } = perDay;
  const estimate = { about, low, high };
  return { known: true, perDay: estimate, byMonthEnd: times(estimate, weight), basis, days };
}

/** A negative factor swaps the ends of the range. */
function times({ about, low, high }: Estimate, factor: number): Estimate {
  const ends = [low * factor, high * factor];
  return { about: about * factor, low: Math.min(...ends), high: Math.max(...ends) };
}

function notKnown(why: UnknownEffect): CostChange {
  return { known: false, why };
}
