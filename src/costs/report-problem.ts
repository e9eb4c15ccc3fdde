import { figure } from './numbers.ts';
import type { Micro } from './row.ts';

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

export type ReportProblem =
  | { readonly name: RowFault; readonly count: number }
  | { readonly name: 'grand-total-off'; readonly counted: Micro; readonly told: Micro };

const SAID: Readonly<Record<RowFault, string>> = {
  'without-day': 'without a day: left out',
  'without-entity': 'without an id: left out',
  'without-figures': 'without any figure: left out',
  'without-total': 'without a total: their metrics were summed',
  'not-asked-for': 'of days that were not asked for: left out',
  'told-twice': 'told twice: the later one counts',
  'not-a-number': 'with a metric that is no number: that metric was left out',
  negative: 'with negative credits: counted as they are',
  'metrics-off': 'whose metrics do not add up to their total: the total counts',
};

/** A problem in words for the footer of whatever is shown from the report. */
export function problemText(problem: ReportProblem): string {
  if (problem.name === 'grand-total-off') {
    return `figures do not add up (${figure(problem.counted)} vs ${figure(problem.told)})`;
  }
  return `${problem.count} ${problem.count === 1 ? 'row' : 'rows'} ${SAID[problem.name]}`;
}

/** The problems of several replies as if they were of one; totals that are off stay apart. */
export function mergedProblems(problems: readonly ReportProblem[]): readonly ReportProblem[] {
  const counts = new Map<RowFault, number>();
  for (const problem of problems) {
    if (problem.name === 'grand-total-off') continue;
    counts.set(problem.name, (counts.get(problem.name) ?? 0) + problem.count);
  }
  const faults = [...counts].map(([name, count]) => ({ name, count }));
  return [...faults, ...problems.filter(({ name }) => name === 'grand-total-off')];
}
