import type { Day } from '../../base/time.ts';
import type { FigureName, RowFault, RowProblem } from './report-problem.ts';
import { type CostRow, METRICS, type Metric, type Micro, microOf } from './row.ts';

/** Counts a fault of the current row, or of one of its figures. */
export type NoteFault = (fault: RowFault, figure?: FigureName) => void;

/** Counts the faults of rows by day, because questions concern days and not whole replies. */
export function createFaults() {
  const counts = new Map<string, RowProblem>();
  let day: Day | null = null;
  const note: NoteFault = (name, figure) => {
    const key = `${day} ${name} ${figure}`;
    const count = (counts.get(key)?.count ?? 0) + 1;
    counts.set(key, { name, day, figure: figure ?? null, count });
  };
  return {
    /** Sets the day of the faults that follow. */
    of: (next: Day | null): void => {
      day = next;
    },
    note,
    counted: (): readonly RowProblem[] => [...counts.values()],
  };
}

interface ReportedFigures {
  readonly metrics: Readonly<Record<string, number | null>> | null;
  readonly totalCredits: number | null;
}

/** The allowed difference between sums and totals, because the report is rounded. */
export const TOLERANCE: Micro = microOf(0.005);

/** Whether the millionths are exact: below nine thousand million credits. */
export function isExact(micro: Micro): boolean {
  return Number.isSafeInteger(micro);
}

/**
 * The metrics and the total of a row. A missing total is the sum of the metrics; null without both.
 * One pass without intermediate lists, because a month has tens of thousands of rows.
 */
export function figuresOf(
  reported: ReportedFigures,
  note: NoteFault,
): Pick<CostRow, 'metrics' | 'total'> | null {
  const metrics: Partial<Record<Metric, Micro>> = {};
  const seen = { count: 0, sum: 0, odd: false, negative: false };
  for (const metric of METRICS) {
    const credits = reported.metrics?.[metric] ?? null;
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

  const total = totalOf(reported.totalCredits, seen, note);
  if (total === null) return null;
  if (seen.negative || total < 0) note('negative');
  return { metrics, total };
}

function totalOf(
  reported: number | null,
  { count, sum, odd }: { readonly count: number; readonly sum: Micro; readonly odd: boolean },
  note: NoteFault,
): Micro | null {
  const total = reported === null ? null : microOf(reported);
  if (total === null || !isExact(total)) {
    if (count === 0) return null;
    if (total === null) note('without-total');
    else note('not-a-number', 'totalCredits');
    return sum;
  }
  // With an invalid metric, which is counted above, the others cannot add up to the total.
  if (count > 0 && !odd && Math.abs(total - sum) > TOLERANCE) note('metrics-off');
  return total;
}
