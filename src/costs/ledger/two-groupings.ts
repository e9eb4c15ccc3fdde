import { isWithin, type Span } from '../calendar/calendar.ts';
import { type Grouping, partsOf } from './grouping.ts';
import type { CostRow } from './row.ts';
import { type SummaryLine, sumBy } from './summary.ts';

/** A line of the first grouping, and its lines of the second, which add up to it exactly. */
export interface LineGroup {
  /** Its total is the subtotal of the group. */
  readonly line: SummaryLine;
  readonly parts: readonly SummaryLine[];
}

export type TwoGroupings = readonly [Grouping, Grouping];

/**
 * Sums the rows of the span by two groupings, exact to the millionth: the parts add up to their
 * subtotal, and the subtotals to the total of the rows. Shares are of that total. Both levels are
 * ordered as in `sumBy`. Source: docs/costs.md#sums.
 */
export function sumByTwo(
  rows: readonly CostRow[],
  [by, thenBy]: TwoGroupings,
  span: Span,
): readonly LineGroup[] {
  const own = rows.filter(({ day }) => isWithin(span, day));
  const all = own.reduce((sum, { total }) => sum + total, 0);
  const groups = rowsByLine(own, by);
  return sumBy(own, by, span).map((line) => ({
    line,
    parts: sumBy(groups.get(line.key) ?? [], thenBy, span).map((part) => ({
      ...part,
      share: all > 0 ? part.total / all : null,
    })),
  }));
}

/** The rows of each line. A row with several metrics is divided: it has the amount of one in each. */
export function rowsByLine(
  rows: readonly CostRow[],
  by: Grouping,
): ReadonlyMap<string, readonly CostRow[]> {
  const groups = new Map<string, CostRow[]>();
  const parts = partsOf(by);
  for (const row of rows) {
    for (const { key, amount } of parts(row)) {
      const own = groups.get(key) ?? [];
      own.push(amount === row.total ? row : { ...row, total: amount });
      groups.set(key, own);
    }
  }
  return groups;
}
