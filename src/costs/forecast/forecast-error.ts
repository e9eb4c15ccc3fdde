import { levelOf, type SpendLevel } from './level.ts';
import { quantile, sum } from './robust.ts';
import { LEAST_DAYS, type SettledDay } from './series.ts';

const ORIGINS = 35;
const LEAST_ORIGINS = 5;
const LEAST_ERROR = 0.02;
const BLIND_ERROR = 0.3;
const WIDENING = 1.25;
/** The errors of longer spans are extended from this number of days. */
export const LONGEST_HORIZON = 14;
const HORIZONS = [7, LONGEST_HORIZON];

/** Half the width of the interval of a forecast. */
interface ForecastError {
  /** A share of the days that are not settled. */
  readonly share: number;
  /** Whether past days show it; with too few of them it is 30%. */
  readonly isMeasured: boolean;
}

/**
 * Returns r of docs/costs.md#forecast as a function of the number of open days. The past errors are
 * computed once for all numbers that share them.
 */
export function errorsOf(known: readonly SettledDay[]): (openDays: number) => ForecastError {
  const past = new Map<number, readonly number[]>();
  return (openDays) => {
    const longest = Math.min(LONGEST_HORIZON, Math.max(1, openDays));
    const horizons = new Set(HORIZONS.map((horizon) => Math.min(horizon, longest)));
    const errors = past.get(longest) ?? pastErrors(known, [...horizons]);
    past.set(longest, errors);
    if (errors.length < LEAST_ORIGINS) return { share: BLIND_ERROR, isMeasured: false };
    const widened = WIDENING * Math.sqrt(Math.max(1, openDays / LONGEST_HORIZON));
    return { share: Math.max(LEAST_ERROR, quantile(errors, 0.8) * widened), isMeasured: true };
  };
}

function pastErrors(known: readonly SettledDay[], horizons: readonly number[]): readonly number[] {
  const levels = known.map((_, origin) => {
    const isLate = origin > known.length - Math.min(...horizons);
    const isEarly = origin <= known.length - Math.max(...horizons) - ORIGINS;
    return isLate || isEarly || origin < LEAST_DAYS ? null : levelOf(known.slice(0, origin));
  });
  return horizons.flatMap((horizon) => {
    const last = known.length - horizon;
    return levels.slice(Math.max(0, last - ORIGINS + 1), last + 1).flatMap((level, index) => {
      const origin = Math.max(0, last - ORIGINS + 1) + index;
      return level ? [relativeError(level, known.slice(origin, origin + horizon))] : [];
    });
  });
}

function relativeError(level: SpendLevel, ahead: readonly SettledDay[]): number {
  const predicted = sum(ahead.map(({ weekday }) => level.value * (level.profile[weekday] ?? 1)));
  const actual = sum(ahead.map(({ value }) => value));
  if (predicted === 0) return actual === 0 ? 0 : 1;
  return Math.abs(actual / predicted - 1);
}
