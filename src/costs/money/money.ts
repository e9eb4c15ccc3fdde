import type { Day } from '../../base/time.ts';
import { type DayPrice, type PriceList, priceOn } from './price.ts';

/** An exact amount of money: no step of a sum is rounded, only the text of the result. */
export interface Money {
  readonly currency: string;
  /** Trillionths of the currency: millionths of a credit times millionths of the price. */
  readonly trillionths: bigint;
}

/** Millionths of a credit that have one price; without a price their money is unknown. */
export type PricedPart = readonly [DayPrice | undefined, number];

/**
 * The money of the parts together. Null if one of them has credits and no price, or if none has a
 * price: a part of a sum would look like the sum. Source: docs/costs.md#money.
 */
export function moneyOf(parts: Iterable<PricedPart>): Money | null {
  let trillionths = 0n;
  let currency: string | null = null;
  for (const [price, micro] of parts) {
    if (price) {
      currency = price.currency;
      trillionths += BigInt(micro) * BigInt(price.perCredit);
    } else if (micro !== 0) return null;
  }
  return currency === null ? null : { currency, trillionths };
}

/** Null for unknown money, undefined for no costs at all. */
type Known = Money | null | undefined;

/** The sum; null if one of them is unknown. */
export function moneySum(all: readonly Known[]): Money | null {
  const parts = all.filter((one) => one !== undefined);
  const [first] = parts;
  if (!first) return null;
  let trillionths = 0n;
  for (const part of parts) {
    if (part === null) return null;
    trillionths += part.trillionths;
  }
  return { ...first, trillionths };
}

/** `now − before` */
export function moneyDifference(now: Known, before: Known): Money | null {
  return moneySum([now, before && { ...before, trillionths: -before.trillionths }]);
}

/** One of `count` equal parts, rounded to the trillionth. */
export function moneyShare(money: Money | null, count: number): Money | null {
  return money && { ...money, trillionths: dividedBy(money.trillionths, BigInt(count)) };
}

/**
 * The money of credits that are not known by day, such as a budget or a forecast: spread evenly over
 * the days, each at its own price. Null if a day has no price.
 */
export function moneyOver(
  micro: number,
  days: readonly Day[],
  prices: PriceList | null | undefined,
): Money | null {
  const each = days.map((day): PricedPart => [priceOn(prices, day), micro]);
  return moneyShare(moneyOf(each), days.length);
}

/** The nearest whole number; half of one is rounded away from zero. */
export function dividedBy(number: bigint, divisor: bigint): bigint {
  const half = number < 0n ? -divisor / 2n : divisor / 2n;
  return (number + half) / divisor;
}
