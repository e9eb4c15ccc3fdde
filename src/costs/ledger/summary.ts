import { isWithin, type Span } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import { type Money, moneyOf } from '../money/money.ts';
import type { DayPrice } from '../money/price.ts';
import { type By, type CostPart, isOfTime, partsOf } from './grouping.ts';
import type { CostRow, Micro } from './row.ts';

/** The sum of a line, in millionths of a credit. */
export interface SummaryLine {
  /** An id, a day, the Monday of a week, a month or a metric; `OTHER_LINES` for the remaining lines. */
  readonly key: string;
  readonly name: string;
  readonly total: Micro;
  /** Null without a price for each of its days with costs. */
  readonly money: Money | null;
  /** The share of the total of the span, from 0 to 1; null if that total is not above 0. */
  readonly share: number | null;
  /** The number of days with rows. */
  readonly days: number;
  /** The part of the total that can still change. */
  readonly preliminary: Micro;
  /** Whether the total can still change, even if it is 0 now. */
  readonly isOpen: boolean;
}

/** With a space, so that no tag and no team is this key. */
export const OTHER_LINES = 'other lines';

interface Sum {
  readonly key: string;
  name: { readonly text: string; readonly isOwn: boolean; readonly day: Day };
  total: Micro;
  /** The total by the price of its days: the same object for all days with one price. */
  readonly byPrice: Map<DayPrice | undefined, Micro>;
  preliminary: Micro;
  isOpen: boolean;
  readonly days: Set<Day>;
}

/**
 * Sums the rows of the span by line, exact to the millionth. The lines add up to the total of the
 * rows; by entity and metric, the rounding of the rows is left out. Lines are ordered by cost, or by time for days, weeks and months. `top` keeps that many lines and adds `Other (n)` for the n
 * others. A renamed entity has its latest name. Source: docs/costs.md#sums.
 */
export function sumBy(
  rows: readonly CostRow[],
  by: By,
  span: Span,
  top: number | null = null,
): readonly SummaryLine[] {
  const sums = sumsOf(rows, by, span);
  const all = sums.reduce((sum, { total }) => sum + total, 0);
  const byCost = sums.sort((a, b) => b.total - a.total || (a.key < b.key ? -1 : 1));
  if (top !== null && sums.length > top) {
    return [...byCost.slice(0, top), other(byCost.slice(top))].map((sum) => lineOf(sum, all));
  }
  const ordered = isOfTime(by) ? sums.sort((a, b) => (a.key < b.key ? -1 : 1)) : byCost;
  return ordered.map((sum) => lineOf(sum, all));
}

function sumsOf(rows: readonly CostRow[], by: By, span: Span): Sum[] {
  const sums = new Map<string, Sum>();
  const parts = partsOf(by);
  for (const row of rows) {
    if (!isWithin(span, row.day)) continue;
    for (const part of parts(row)) add(sums, part, row);
  }
  return [...sums.values()];
}

function add(sums: Map<string, Sum>, part: CostPart, { day, locked, price }: CostRow): void {
  const sum = sums.get(part.key) ?? newSum(part, day);
  if (sum.days.size === 0) sums.set(part.key, sum);
  sum.total += part.amount;
  sum.byPrice.set(price, (sum.byPrice.get(price) ?? 0) + part.amount);
  if (!locked) sum.preliminary += part.amount;
  sum.isOpen ||= !locked;
  sum.days.add(day);
  if (isBetter(part, day, sum.name)) sum.name = nameOf(part, day);
}

function newSum(part: CostPart, day: Day): Sum {
  const name = nameOf(part, day);
  const nothing = { total: 0, byPrice: new Map(), preliminary: 0, isOpen: false };
  return { key: part.key, name, ...nothing, days: new Set() };
}

function nameOf({ name, isOwnName }: CostPart, day: Day): Sum['name'] {
  return { text: name, isOwn: isOwnName, day };
}

function isBetter({ name, isOwnName }: CostPart, day: Day, than: Sum['name']): boolean {
  if (isOwnName !== than.isOwn) return isOwnName;
  return day === than.day ? name > than.text : day > than.day;
}

function other(sums: readonly Sum[]): Sum {
  return {
    key: OTHER_LINES,
    name: { text: `Other (${sums.length})`, isOwn: true, day: '' },
    total: sums.reduce((sum, { total }) => sum + total, 0),
    byPrice: mergeByPrice(sums),
    preliminary: sums.reduce((sum, { preliminary }) => sum + preliminary, 0),
    isOpen: sums.some(({ isOpen }) => isOpen),
    days: new Set(sums.flatMap(({ days }) => [...days])),
  };
}

function mergeByPrice(sums: readonly Sum[]): Sum['byPrice'] {
  const merged: Sum['byPrice'] = new Map();
  for (const [price, micro] of sums.flatMap(({ byPrice }) => [...byPrice])) {
    merged.set(price, (merged.get(price) ?? 0) + micro);
  }
  return merged;
}

function lineOf({ key, name, total, byPrice, days, ...rest }: Sum, all: Micro): SummaryLine {
  const { preliminary, isOpen } = rest;
  const share = all > 0 ? total / all : null;
  const money = moneyOf(byPrice);
  return { key, name: name.text, total, money, share, days: days.size, preliminary, isOpen };
}
