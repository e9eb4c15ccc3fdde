/** From the median absolute deviation of normal noise to its standard deviation. */
const MAD_TO_SIGMA = 1.4826;
/** The same from the mean absolute deviation. */
const MEAN_TO_SIGMA = 1.2533;
const CLIP_SIGMAS = 2;
/** If most values are equal, the others are occasional costs and not spikes. */
const SPARSE_CLIP_SIGMAS = 3;

/** The quantile, with linear interpolation between ranks; NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = new Float64Array(values).sort();
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  // The logarithm of 0 is infinite, and infinite times zero is not a number.
  return low === high ? low : low * (Math.ceil(at) - at) + high * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The median absolute deviation from the median, not scaled to a sigma. `middle`: the median, if it is known. */
export function mad(values: readonly number[], middle = median(values)): number {
  return median(values.map((value) => Math.abs(value - middle)));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/**
 * A robust standard deviation: 1.4826 · MAD. If more than half of the values are equal, the MAD is
 * 0, and the result is 1.2533 · mean absolute deviation.
 */
export function spread(values: readonly number[]): number {
  const middle = median(values);
  const deviation = mad(values, middle);
  if (deviation > 0) return MAD_TO_SIGMA * deviation;
  return MEAN_TO_SIGMA * mean(values.map((value) => Math.abs(value - middle)));
}

/**
 * The mean of the values clipped at median ± 2 · spread, which limits the effect of a spike. With
 * ± 3, a spike still moved the forecast of the last week of a month.
 */
export function winsorisedMean(values: readonly number[]): number {
  const middle = median(values);
  const sigmas = mad(values, middle) > 0 ? CLIP_SIGMAS : SPARSE_CLIP_SIGMAS;
  const context = sigmas * spread(values);
  return mean(values.map((value) => Math.min(Math.max(value, middle - context), middle + context)));
}

interface ShiftEstimate {
  readonly by: number;
  readonly low: number;
  readonly high: number;
}

/** Two-sided 90% of a normal distribution. */
const NOMINAL_Z = 1.645;

/**
 * The shift from `before` to `after`: the median of all pairwise differences (Hodges–Lehmann), with
 * the ranks mn/2 ± z · √(mn(m+n+1)/12) of the sorted differences as interval, nominally 90%.
 * `minus` computes a difference, by default a − b.
 */
export function hodgesLehmann(
  before: readonly number[],
  after: readonly number[],
  minus: (a: number, b: number) => number = (a, b) => a - b,
): ShiftEstimate {
  const pairs = after.flatMap((a) => before.map((b) => minus(a, b)));
  const sorted = new Float64Array(pairs).sort();
  const deviation = Math.sqrt((pairs.length * (before.length + after.length + 1)) / 12);
  const rank = Math.max(1, Math.floor(pairs.length / 2 - NOMINAL_Z * deviation));
  return {
    by: median(pairs),
    low: sorted[rank - 1] ?? Number.NaN,
    high: sorted[pairs.length - rank] ?? Number.NaN,
  };
}
