import { MINUS, type Money, moneyText, signedMoneyText } from './money.ts';
import { creditsOf, type Micro, microOf } from './rows.ts';

// Robust statistics of lists of numbers, and credits, shares and changes as text.

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

/** The share of a normal distribution with this mean and standard deviation that is above 0. */
export function normalShare(mean: number, deviation: number): number {
  if (!(deviation > 0)) return mean > 0 ? 1 : 0;
  const z = mean / deviation / Math.SQRT2;
  // Abramowitz and Stegun, 7.1.26: an error below 1.5e-7.
  const t = 1 / (1 + 0.3275911 * Math.abs(z));
  const series =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const tail = series * Math.exp(-z * z);
  return z >= 0 ? 1 - tail / 2 : tail / 2;
}

/** From the median absolute deviation of normal noise to its standard deviation. */
export const MAD_TO_SIGMA = 1.4826;
// Rounding is for display only: nothing is computed from the texts below.

/**
 * Credits as text, from millionths: `4,182.6`, `12,340`, `0.04`, `<0.01`, `0`; one decimal from 1,
 * none from 10,000, two below 1.
 */
export function figure(micro: Micro): string {
  const size = Math.abs(creditsOf(micro));
  if (micro === 0) return '0';
  if (size < 0.005) return micro < 0 ? `>${MINUS}0.01` : '<0.01';
  return `${micro < 0 ? MINUS : ''}${grouped(size, decimalsFor(size))}`;
}

function decimalsFor(size: number): 0 | 1 | 2 {
  if (size < 1) return 2;
  return size < 10_000 ? 1 : 0;
}

/** `−18.0 credits` or `−18.0 credits (−€6.30)` */
export function signedCredits(micro: Micro, money: Money | null = null): string {
  return `${signedFigure(micro)} credits${bracketed(money && signedMoneyText(money))}`;
}

/**
 * Credits without decimals, from credits: `4,183`; with decimals if `decimals` is set: `9.4`.
 */
export function roundedFigure(credits: number, decimals = false) {
  return figure(microOf(decimals ? credits : Math.round(credits))).replace(/\.0$/, '');
}

/** `4,182.6 credits` or `4,182.6 credits (€1,463.91)` */
export function creditsText(micro: Micro, money: Money | null = null): string {
  return `${figure(micro)} credits${bracketed(money && moneyText(money))}`;
}

/** A difference with its sign: `+55.1`, `−18.0`, `±0`. */
export function signedFigure(micro: Micro): string {
  if (micro === 0) return '±0';
  return `${micro < 0 ? MINUS : '+'}${figure(Math.abs(micro)).replace('<', '')}`;
}

/** The notes after a figure: ` (€80.19, +4%)`; empty without any note. */
export function bracketed(...notes: readonly (string | null)[]): string {
  const shown = notes.filter((note) => note !== null);
  return shown.length > 0 ? ` (${shown.join(', ')})` : '';
}

/** A share as text, from a fraction: 0.083 → `8%`; a small share above 0: `<1%`. */
export function shareText(fraction: number): string {
  if (fraction > 0 && fraction < 0.005) return '<1%';
  const sign = Math.round(fraction * 100) < 0 ? MINUS : '';
  return `${sign}${grouped(Math.abs(fraction) * 100, 0)}%`;
}

/**
 * A relative change as text, from a fraction: 0.04 → `+4%`, −0.51 → `−51%`; from a rise of 200% on
 * as a factor: 2.1 → `×3.1`.
 */
export function changeText(fraction: number): string {
  if (fraction >= 2) return `×${grouped(fraction + 1, 1)}`;
  const percent = Math.round(Math.abs(fraction) * 100);
  if (percent === 0) return '±0%';
  return `${fraction < 0 ? MINUS : '+'}${percent}%`;
}

// By decimals. Each format is created once, because a table has thousands of figures, and not before
// its first figure, because the first format of a process takes 30 ms.
const formats: Intl.NumberFormat[] = [];

function grouped(number: number, decimals: 0 | 1 | 2): string {
  formats[decimals] ??= new Intl.NumberFormat('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return formats[decimals].format(number);
}
