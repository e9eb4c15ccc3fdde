import type { FigureName, RowFault } from './report-problem.ts';
import { type CostRow, METRICS, type Metric, type Micro, microOf } from './row.ts';

/** Counts a fault of the row at hand, or of one figure of it. */
export type NoteFault = (fault: RowFault, figure?: FigureName) => void;

interface Told {
  readonly metrics: Readonly<Record<string, number | null>> | null;
  readonly totalCredits: number | null;
}

/** Credits by which figures that belong together may differ; the source rounds. */
export const TOLERANCE: Micro = microOf(0.005);

/** What millionths cannot hold, from nine thousand million credits on, is no figure either. */
export function isExact(micro: Micro): boolean {
  return Number.isSafeInteger(micro);
}

/**
 * A row's metrics and total, the total from the metrics where it is missing; null without any. All
 * in one pass without a list between, for there are tens of thousands of rows in a month.
 */
export function figuresOf(told: Told, note: NoteFault): Pick<CostRow, 'metrics' | 'total'> | null {
  const metrics: Partial<Record<Metric, Micro>> = {};
  const seen = { count: 0, sum: 0, odd: false, negative: false };
  for (const metric of METRICS) {
    const credits = told.metrics?.[metric] ?? null;
    if (credits === null) continue;
    const micro = microOf(credits);
    if (!isExact(micro)) {
      seen.odd = true;
      note('not-a-number', metric);
      continue;
    }
    metrics[metric] = micro;
    seen.count += 1;
    seen.sum += micro;
    seen.negative ||= micro < 0;
  }

  const total = totalOf(told.totalCredits, seen, note);
  if (total === null) return null;
  if (seen.negative || total < 0) note('negative');
  return { metrics, total };
}

function totalOf(
  told: number | null,
  { count, sum, odd }: { readonly count: number; readonly sum: Micro; readonly odd: boolean },
  note: NoteFault,
): Micro | null {
  const total = told === null ? null : microOf(told);
  if (total === null || !isExact(total)) {
    if (count === 0) return null;
    if (total === null) note('without-total');
    else note('not-a-number', 'totalCredits');
    return sum;
  }
  // Without the figure that is no number the others cannot add up, and that one is told of already.
  if (count > 0 && !odd && Math.abs(total - sum) > TOLERANCE) note('metrics-off');
  return total;
}
