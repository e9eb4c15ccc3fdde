import { creditsOf, type Micro } from './row.ts';

// What is rounded here is for eyes only: nothing is ever computed from a text.

const MINUS = '−';

// Made once: a table has thousands of figures, and making a format takes longer than using it.
const FORMATS = { 0: formatOf(0), 1: formatOf(1), 2: formatOf(2) } as const;

function formatOf(decimals: number): Intl.NumberFormat {
  return new Intl.NumberFormat('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

/**
 * Credits as people read them, from millionths: `4,182.6`, `12,340`, `0.04`, `<0.01`, `0`; one
 * decimal from 1, none from 10,000, two below 1.
 */
export function figure(micro: Micro): string {
  const size = Math.abs(creditsOf(micro));
  if (micro === 0) return '0';
  if (size < 0.005) return micro < 0 ? `>${MINUS}0.01` : '<0.01';
  return `${micro < 0 ? MINUS : ''}${grouped(size, decimalsFor(size))}`;
}

/** `4,182.6 credits` */
export function creditsText(micro: Micro): string {
  return `${figure(micro)} credits`;
}

/** A difference with its sign: `+55.1`, `−18.0`, `±0`. */
export function signedFigure(micro: Micro): string {
  if (micro === 0) return '±0';
  const size = figure(Math.abs(micro));
  return `${micro < 0 ? MINUS : '+'}${size.replace('<', '')}`;
}

/** A part of a whole, from a fraction: 0.083 → `8%`; what is little but not nothing: `<1%`. */
export function shareText(fraction: number): string {
  if (fraction > 0 && fraction < 0.005) return '<1%';
  return `${minusOf(fraction)}${grouped(Math.abs(fraction) * 100, 0)}%`;
}

/**
 * A relative change, from a fraction: 0.04 → `+4%`, −0.51 → `−51%`; from the double rise on as a
 * multiple of what was: 2.1 → `×3.1`.
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
  return FORMATS[decimals].format(number);
}
