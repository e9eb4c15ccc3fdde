import { type Money, moneyOf } from '../money/money.ts';
import { moneyText, roughMoneyText, signedMoneyText } from '../money/money-text.ts';
import type { DayPrice } from '../money/price.ts';
import { creditsOf, type Micro, microOf } from './row.ts';

// Rounding is for display only: nothing is computed from these texts.

const MINUS = '−';

// By decimals. Each is created once, as a table has thousands of figures, and not before its first figure: the first
// format of a process takes 30 ms.
const formats: Intl.NumberFormat[] = [];

function formatOf(decimals: number): Intl.NumberFormat {
  formats[decimals] ??= new Intl.NumberFormat('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return formats[decimals];
}

/**
 * Credits as text, from millionths: `4,182.6`, `12,340`, `0.04`, `<0.01`, `0`; one
 * decimal from 1, none from 10,000, two below 1. With money: `4,182.6 (€1,463.91)`.
 */
export function figure(micro: Micro, money: Money | null = null): string {
  return `${credits(micro)}${bracketed(money && moneyText(money))}`;
}

function credits(micro: Micro): string {
  const size = Math.abs(creditsOf(micro));
  if (micro === 0) return '0';
  if (size < 0.005) return micro < 0 ? `>${MINUS}0.01` : '<0.01';
  return `${micro < 0 ? MINUS : ''}${grouped(size, decimalsFor(size))}`;
}

/** `−18.0 credits` or `−18.0 credits (−€6.30)` */
export function signedCredits(micro: Micro, money: Money | null = null): string {
  return `${signedFigure(micro)} credits${bracketed(money && signedMoneyText(money))}`;
}

/**
 * Credits without decimals, from credits: `4,183`; with decimals if `decimals` is set: `9.4`. With
 * money: `4,183 (€1,464)`.
 */
export function roundedFigure(credits: number, decimals = false, money: Money | null = null) {
  const text = figure(microOf(decimals ? credits : Math.round(credits))).replace(/\.0$/, '');
  return `${text}${bracketed(money && roughMoneyText(money))}`;
}

/** The notes after a figure: ` (€80.19, +4%)`; empty without any note. */
export function bracketed(...notes: readonly (string | null)[]): string {
  const shown = notes.filter((note) => note !== null);
  return shown.length > 0 ? ` (${shown.join(', ')})` : '';
}

/** A figure as a note: ` (229.1)`, ` (229.1, €80.19)`. */
export function figureNote(micro: Micro, money: Money | null): string {
  return bracketed(figure(micro), money && moneyText(money));
}

/** `9.8–15.3`; with the price of its day: `9.8–15.3 (€3.43–€5.36)`. From credits. */
export function figureRange(low: number, high: number, price: DayPrice | undefined): string {
  const ends = [microOf(low), microOf(high)] as const;
  const money = ends.map((end) => moneyOf([[price, end]]));
  const shown = money.map((end) => end && moneyText(end)).join('–');
  return `${ends.map((end) => figure(end)).join('–')}${bracketed(price ? shown : null)}`;
}

/** `4,182.6 credits` or `4,182.6 credits (€1,463.91)` */
export function creditsText(micro: Micro, money: Money | null = null): string {
  return `${figure(micro)} credits${bracketed(money && moneyText(money))}`;
}

/** A difference with its sign: `+55.1`, `−18.0`, `±0`; with money: `+55.1 (+€19.29)`. */
export function signedFigure(micro: Micro, money: Money | null = null): string {
  const beside = bracketed(money && signedMoneyText(money));
  if (micro === 0) return `±0${beside}`;
  const size = figure(Math.abs(micro)).replace('<', '');
  return `${micro < 0 ? MINUS : '+'}${size}${beside}`;
}

/** A share as text, from a fraction: 0.083 → `8%`; a small share above 0: `<1%`. */
export function shareText(fraction: number): string {
  if (fraction > 0 && fraction < 0.005) return '<1%';
  return `${minusOf(fraction)}${grouped(Math.abs(fraction) * 100, 0)}%`;
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

function decimalsFor(size: number): 0 | 1 | 2 {
  if (size < 1) return 2;
  return size < 10_000 ? 1 : 0;
}

function minusOf(fraction: number): string {
  return Math.round(fraction * 100) < 0 ? MINUS : '';
}

function grouped(number: number, decimals: 0 | 1 | 2): string {
  return formatOf(decimals).format(number);
}
