import type { Span } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import { spanLabel } from '../calendar/span-label.ts';
import { METRIC_NAMES } from './grouping.ts';
import { figure } from './numbers.ts';
import type { Metric, Micro } from './row.ts';

/** What can be wrong with a single row of the usage report. */
export type RowFault =
  | 'without-day'
  | 'without-entity'
  | 'without-figures'
  | 'without-total'
  | 'not-asked-for'
  | 'told-twice'
  | 'not-a-number'
  | 'negative'
  | 'metrics-off';

/** What a row calls the figure that is no number. */
export type FigureName = Metric | 'totalCredits';

export interface RowProblem {
  readonly name: RowFault;
  /** Null of rows that name none. */
  readonly day: Day | null;
  /** Which figure it is about; null where it is about the row. */
  readonly figure: FigureName | null;
  readonly count: number;
}

export type ReportProblem =
  | RowProblem
  | {
      readonly name: 'grand-total-off';
      readonly counted: Micro;
      readonly told: Micro;
      /** What both are the sum of: the days of the reply, be others asked for or not. */
      readonly of: Span;
    };

const SAID: Readonly<Record<RowFault, string>> = {
  'without-day': 'without a day: left out',
  'without-entity': 'without an id: left out',
  'without-figures': 'without any figure: left out',
  'without-total': 'without a total: their metrics were summed',
  'not-asked-for': 'of days that were not asked for: left out',
  'told-twice': 'told twice: the later one counts',
  'not-a-number': 'with a figure that is no number: it was left out',
  negative: 'with negative credits: counted as they are',
  'metrics-off': 'whose metrics do not add up to their total: the total counts',
};

/** A problem in words for the footer of whatever is shown from the report. */
export function problemText(problem: ReportProblem): string {
  if (problem.name === 'grand-total-off') {
    const { counted, told, of } = problem;
    return `figures of ${spanLabel(of, of.last)} do not add up (${figure(counted)} vs ${figure(told)})`;
  }
  const rows = `${problem.count} ${problem.count === 1 ? 'row' : 'rows'}`;
  if (problem.figure === null) return `${rows} ${SAID[problem.name]}`;
  if (problem.figure === 'totalCredits') {
    return `the total is no number in ${rows}: the metrics were summed`;
  }
  return `${METRIC_NAMES[problem.figure]} is no number in ${rows}: left out`;
}

/** What is wrong with the days in question: a row of another day is no fault of what is shown. */
export function problemsOf(
  problems: readonly ReportProblem[],
  spans: readonly Span[],
): readonly ReportProblem[] {
  const isShown = (day: Day | null) =>
    day === null || spans.some(({ first, last }) => day >= first && day <= last);
  return problems.filter((problem) => problem.name === 'grand-total-off' || isShown(problem.day));
}

/** The problems of several days and replies as if they were of one; totals that are off stay apart. */
export function mergedProblems(problems: readonly ReportProblem[]): readonly ReportProblem[] {
  const merged = new Map<string, RowProblem>();
  for (const problem of problems) {
    if (problem.name === 'grand-total-off') continue;
    const key = `${problem.name} ${problem.figure}`;
    const count = (merged.get(key)?.count ?? 0) + problem.count;
    merged.set(key, { ...problem, day: null, count });
  }
  return [...merged.values(), ...problems.filter(({ name }) => name === 'grand-total-off')];
}
