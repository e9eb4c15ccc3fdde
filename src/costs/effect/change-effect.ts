import { addDays, type Day } from '../calendar/day.ts';
import { daysOfMonth } from '../forecast/forecast.ts';
import { levelOf } from '../forecast/level.ts';
import { quantile } from '../forecast/robust.ts';
import { historyOf } from '../forecast/series.ts';
import { FLAT, factorOn, type WeekdayProfile } from '../forecast/weekday.ts';
import type { DayValue } from '../ledger/row.ts';
import { HOURS, isFixed, type Scaling, type UnitPrice } from './unit-price.ts';

/** What a change will do to the compute of one service; negative where it saves. Credits. */
export type CostChange =
  | {
      readonly known: true;
      readonly perDay: Estimate;
      /**
       * From the next whole UTC day to the end of this month; nothing on its last day. The range is
       * that of a day times the days: wider than it will be, for days even out.
       */
      readonly byMonthEnd: Estimate;
      readonly basis: EffectBasis;
      readonly days: number;
    }
  | { readonly known: false; readonly why: UnknownEffect };

export interface Estimate {
  readonly about: number;
  readonly low: number;
  readonly high: number;
}

/** Past days alone; their ratio to another fixed size; or bounds and the price of a GB-hour. */
export type EffectBasis = 'past-days' | 'fixed-size' | 'unit-price';
export type UnknownEffect = 'too-few-final-days' | 'size-not-known' | 'price-not-known';

/** With less than a week some weekdays were never seen. */
const LEAST_DAYS = 7;
const LOW_SHARE = 0.1;
const HIGH_SHARE = 0.9;

/**
 * Stopping saves the level of the last 14 final days (level.ts); the range is what the tenth and
 * the ninetieth of a hundred such days cost. Storage and backups go on and are not in it.
 * Source: docs/costs.md#estimated-effect.
 */
export function stopEffect(compute: readonly DayValue[], today: Day): CostChange {
  const usual = usualOf(compute, today);
  if (!usual) return notKnown('too-few-final-days');
  return effect(times(usual, -1), usual, today, 'past-days');
}

/**
 * Starting brings back the level of the last 14 days on which it cost anything; without seven of
 * them, what its bounds cost: 24 · k · replicas · min (0 if it may idle) … 24 · k · replicas · max.
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
 * From fixed size to fixed size, both without idling: level · (R′M′ / RM − 1). Else with k:
 * G = level / 24k is the average size in use, all replicas together; expected is
 * 24 · k · R′ · clamp(G / R′, min′, max′), where idling stays on not raised to min′; between floor
 * and ceiling of the new bounds. The autoscaler decides the real size.
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
  if (!usual) return notKnown('too-few-final-days');
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

/** A negative factor turns the range around. */
function times({ about, low, high }: Estimate, factor: number): Estimate {
  const ends = [low * factor, high * factor];
  return { about: about * factor, low: Math.min(...ends), high: Math.max(...ends) };
}

function notKnown(why: UnknownEffect): CostChange {
  return { known: false, why };
}
