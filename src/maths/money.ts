import { cached } from '../base/cache.ts';
import type { Day } from '../base/time.ts';

// Exact amounts of money from the prices of days, and their texts.

/** The price of a credit on one day, in millionths of the currency, whole. */
export interface DayPrice {
  readonly perCredit: number;
  /** A code of ISO 4217. */
  readonly currency: string;
}

/** The prices of `costs.price`. Each one applies from its day on, until the next one. */
export type PriceList = readonly (DayPrice & { readonly from: Day })[];

/** The price on a day; undefined before the first one. Source: docs/costs.md#money. */
export function priceOn(prices: PriceList | null | undefined, day: Day): DayPrice | undefined {
  return prices?.findLast(({ from }) => from <= day);
}

/** The same items with the price of their day; without prices, the items as they are. */
export function withPrices<Item extends { readonly day: Day; readonly price?: DayPrice }>(
  items: readonly Item[],
  prices: PriceList | null,
): readonly Item[] {
  if (prices === null) return items;
  return items.map((item) => {
    const price = priceOn(prices, item.day);
    return price ? { ...item, price } : item;
  });
}

/** An exact amount of money: no step of a sum is rounded, only the text of the result. */
export interface Money {
  readonly currency: string;
  /** Trillionths of the currency: millionths of a credit times millionths of the price. */
  readonly trillionths: bigint;
}

/** Millionths of a credit that have one price; without a price their money is unknown. */
type PricedPart = readonly [DayPrice | undefined, number];

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
  const all = moneyOf(each);
  // One of equal parts, rounded to the trillionth.
  return all && { ...all, trillionths: dividedBy(all.trillionths, BigInt(days.length)) };
}

/** The nearest whole number; half of one is rounded away from zero. */
function dividedBy(number: bigint, divisor: bigint): bigint {
  const half = number < 0n ? -divisor / 2n : divisor / 2n;
  return (number + half) / divisor;
}

/** The sign of negative figures. */
export const MINUS = '−';
const TRILLIONTH_DIGITS = 12;

/**
 * Money as text, rounded to the smallest unit of its currency, a half away from zero: `€1,463.91`,
 * `−€0.35`, `<€0.01`, `€0.00`.
 */
export function moneyText({ currency, trillionths }: Money): string {
  const { digits, amount } = formatOf(currency);
  const isNegative = trillionths < 0n;
  const size = isNegative ? -trillionths : trillionths;
  const units = dividedBy(size, 10n ** BigInt(TRILLIONTH_DIGITS - digits));
  const sign = isNegative ? MINUS : '';
  if (units > 0n || size === 0n) return `${sign}${amount.format(decimal(units, digits))}`;
  const least = amount.format(decimal(1n, digits));
  return isNegative ? `>${MINUS}${least}` : `<${least}`;
}

/** For figures without decimals: from 100 on in whole units, `€2,826`. */
export function roughMoneyText(money: Money): string {
  const { currency, trillionths } = money;
  const whole = dividedBy(trillionths, 10n ** BigInt(TRILLIONTH_DIGITS));
  if (whole > -100n && whole < 100n) return moneyText(money);
  const size = formatOf(currency).rough.format(whole < 0n ? -whole : whole);
  return `${whole < 0n ? MINUS : ''}${size}`;
}

/** A difference with its sign: `+€19.29`, `−€6.30`, `±€0.00`. */
export function signedMoneyText(money: Money): string {
  if (money.trillionths === 0n) return `±${moneyText(money)}`;
  const text = moneyText(money).replace(/[<>]/, '');
  return money.trillionths > 0n ? `+${text}` : text;
}

interface CurrencyFormat {
  /** The digits of the smallest unit: 2 for EUR, 0 for JPY. */
  readonly digits: number;
  readonly amount: Intl.NumberFormat;
  readonly rough: Intl.NumberFormat;
}

const formatOf = cached(100, (currency: string): CurrencyFormat => {
  const style = { style: 'currency', currency } as const;
  const amount = new Intl.NumberFormat('en-US', style);
  const rough = new Intl.NumberFormat('en-US', { ...style, maximumFractionDigits: 0 });
  const digits = amount.resolvedOptions().maximumFractionDigits ?? 2;
  return { digits, amount, rough };
});

/** An integer with its last `digits` digits after the point. */
function decimal(integer: bigint, digits: number): `${number}` {
  const size = (integer < 0n ? -integer : integer).toString().padStart(digits + 1, '0');
  const [whole, rest] = [size.slice(0, size.length - digits), size.slice(size.length - digits)];
  const text = `${integer < 0n ? '-' : ''}${whole}${digits > 0 ? `.${rest}` : ''}`;
  // As text, because a number would lose digits of a large amount.
  return text as `${number}`;
}
