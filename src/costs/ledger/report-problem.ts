import { formatSpan, isWithin, type Span } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import { METRIC_NAMES } from './grouping.ts';
import { figure } from './numbers.ts';
import type { Metric, Micro } from './row.ts';

/** The possible faults of one row of the usage report. */
export type RowFault =
  | 'without-day'
  | 'without-entity'
  | 'without-figures'
  | 'without-total'
  | 'not-asked-for'
  | 'duplicate'
  | 'not-a-number'
  | 'negative'
  | 'metrics-off';

/** The name of a figure in a row. */
export type FigureName = Metric | 'totalCredits';

export interface RowProblem {
  readonly name: RowFault;
  /** Null for rows without a day. */
  readonly day: Day | null;
  /** The faulty figure; null for a fault of the whole row. */
  readonly figure: FigureName | null;
  readonly count: number;
}

export type ReportProblem =
  | RowProblem
  | {
      readonly name: 'grand-total-off';
      readonly counted: Micro;
      readonly reported: Micro;
      /** The days of the reply, which both sums cover. */
      readonly of: Span;
    };

const ROW_FAULTS: Readonly<Record<RowFault, string>> = {
  'without-day': 'without a day: left out',
  'without-entity': 'without an id: left out',
  'without-figures': 'without any figure: left out',
  'without-total': 'without a total: their metrics were summed',
  'not-asked-for': 'of days that were not requested: left out',
  duplicate: 'with a duplicate: the last one counts',
  'not-a-number': 'with a figure that is not a number: left out',
  negative: 'with negative credits: counted as they are',
  'metrics-off': 'whose metrics do not add up to their total: the total counts',
};

/** A problem as text, for the footer of an answer. */
export function problemText(problem: ReportProblem): string {
  if (problem.name === 'grand-total-off') {
    const { counted, reported, of } = problem;
    return `figures of ${formatSpan(of, of.last)} do not add up (${figure(counted)} vs ${figure(reported)})`;
  }
  const rows = `${problem.count} ${problem.count === 1 ? 'row' : 'rows'}`;
  if (problem.figure === null) return `${rows} ${ROW_FAULTS[problem.name]}`;
  if (problem.figure === 'totalCredits') {
    return `the total is not a number in ${rows}: the metrics were summed`;
  }
  return `${METRIC_NAMES[problem.figure]} is not a number in ${rows}: left out`;
}

/** The problems of these days. A wrong grand total concerns all days. */
export function problemsOf(
  problems: readonly ReportProblem[],
  spans: readonly Span[],
): readonly ReportProblem[] {
  const isShown = (day: Day | null) => day === null || spans.some((span) => isWithin(span, day));
  return problems.filter((problem) => problem.name === 'grand-total-off' || isShown(problem.day));
}

/** Adds up the row problems of several days and replies; wrong grand totals stay separate. */
export function mergeProblems(problems: readonly ReportProblem[]): readonly ReportProblem[] {
  const merged = new Map<string, RowProblem>();
  for (const problem of problems) {
    if (problem.name === 'grand-total-off') continue;
    const key = `${problem.name} ${problem.figure}`;
    const count = (merged.get(key)?.count ?? 0) + problem.count;
    merged.set(key, { ...problem, day: null, count });
  }
  return [...merged.values(), ...problems.filter(({ name }) => name === 'grand-total-off')];
}
