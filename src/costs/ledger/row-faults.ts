import type { Day } from '../calendar/day.ts';
import type { NoteFault } from './figures.ts';
import type { RowProblem } from './report-problem.ts';

/** Counts what is wrong with the rows, day by day: people ask about some days, not about a reply. */
export function createFaults() {
  const counts = new Map<string, RowProblem>();
  let day: Day | null = null;
  const note: NoteFault = (name, figure) => {
    const key = `${day} ${name} ${figure}`;
    const count = (counts.get(key)?.count ?? 0) + 1;
    counts.set(key, { name, day, figure: figure ?? null, count });
  };
  return {
    /** Whatever is noted from now on is of this day. */
    of: (next: Day | null): void => {
      day = next;
    },
    note,
    counted: (): readonly RowProblem[] => [...counts.values()],
  };
}
