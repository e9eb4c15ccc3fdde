import type { Span } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import { type By, type CostPart, isOfTime, partsOf } from './grouping.ts';
import type { CostRow, Micro } from './row.ts';

/** Money in millionths of a credit. */
export interface SummaryLine {
  /** An id, a day, the Monday of a week, a month or a metric; `other` of what was put together. */
  readonly key: string;
  readonly name: string;
  readonly total: Micro;
  /** From 0 to 1, of all that the span cost; null where that is not more than nothing. */
  readonly share: number | null;
  /** On how many days it has rows; a line of time without any is one without data. */
  readonly days: number;
  /** The part of the total that can still change. */
  readonly preliminary: Micro;
  /** Whether any of it can still change, be it nothing so far. */
  readonly isOpen: boolean;
}

interface Sum {
  readonly key: string;
  name: { readonly text: string; readonly isOwn: boolean; readonly day: Day };
  total: Micro;
  preliminary: Micro;
  isOpen: boolean;
  readonly days: Set<Day>;
}

/**
 * The rows of the span put together, one pass, exact to the millionth: the lines add up to what the
 * rows cost, except by metric, where a row's rounding (0.005 credits at most) is no line of its own.
 * The dearest come first, lines of time in the order of time. With `top` only so many lines stay
 * and the last, `Other (n)`, has the n others. The order of the rows changes nothing; an entity
 * that was renamed has its latest name. Source: docs/costs.md#sums.
 */
export function sumBy(
  rows: readonly CostRow[],
  by: By,
  span: Span,
  top: number | null = null,
): readonly SummaryLine[] {
  const sums = sumsOf(rows, by, span);
  const all = sums.reduce((sum, { total }) => sum + total, 0);
  const dearest = sums.sort((a, b) => b.total - a.total || (a.key < b.key ? -1 : 1));
  if (top !== null && sums.length > top) {
    return [...dearest.slice(0, top), other(dearest.slice(top))].map((sum) => lineOf(sum, all));
  }
  const ordered = isOfTime(by) ? sums.sort((a, b) => (a.key < b.key ? -1 : 1)) : dearest;
  return ordered.map((sum) => lineOf(sum, all));
}

function sumsOf(rows: readonly CostRow[], by: By, { first, last }: Span): Sum[] {
  const sums = new Map<string, Sum>();
  const parts = partsOf(by);
  for (const row of rows) {
    if (row.day < first || row.day > last) continue;
    for (const part of parts(row)) add(sums, part, row);
  }
  return [...sums.values()];
}

function add(sums: Map<string, Sum>, part: CostPart, { day, locked }: CostRow): void {
  const sum = sums.get(part.key) ?? newSum(part, day);
  if (sum.days.size === 0) sums.set(part.key, sum);
  sum.total += part.amount;
  if (!locked) sum.preliminary += part.amount;
  sum.isOpen ||= !locked;
  sum.days.add(day);
  if (isBetter(part, day, sum.name)) sum.name = nameOf(part, day);
}

function newSum(part: CostPart, day: Day): Sum {
  const name = nameOf(part, day);
  return { key: part.key, name, total: 0, preliminary: 0, isOpen: false, days: new Set() };
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
    key: 'other',
    name: { text: `Other (${sums.length})`, isOwn: true, day: '' },
    total: sums.reduce((sum, { total }) => sum + total, 0),
    preliminary: sums.reduce((sum, { preliminary }) => sum + preliminary, 0),
    isOpen: sums.some(({ isOpen }) => isOpen),
    days: new Set(sums.flatMap(({ days }) => [...days])),
  };
}

function lineOf({ key, name, total, preliminary, isOpen, days }: Sum, all: Micro): SummaryLine {
  const share = all > 0 ? total / all : null;
  return { key, name: name.text, total, share, days: days.size, preliminary, isOpen };
}
