import type { Day } from '../../base/time.ts';

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
  const known = new Map<Day, DayPrice | undefined>();
  return items.map((item) => {
    if (!known.has(item.day)) known.set(item.day, priceOn(prices, item.day));
    const price = known.get(item.day);
    return price ? { ...item, price } : item;
  });
}
