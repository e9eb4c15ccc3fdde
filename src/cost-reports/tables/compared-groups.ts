import { lengthOf } from '../../costs/calendar/calendar.ts';
import { onCalendar } from '../../costs/calendar/timeline.ts';
import { type Grouping, isOfTime } from '../../costs/ledger/grouping.ts';
import type { DayState } from '../../costs/ledger/ledger.ts';
import type { CostRow } from '../../costs/ledger/row.ts';
import type { SummaryLine } from '../../costs/ledger/summary.ts';
import { rowsByLine, sumByTwo, type TwoGroupings } from '../../costs/ledger/two-groupings.ts';
import type { Period } from '../../costs/question/period.ts';
import { lineChanges, type PeriodComparison } from '../compare-periods.ts';
import { type LineChanges, withVanished } from './cost-lines.ts';
import type { ComparedGroup } from './two-way-table.ts';

interface GroupedCosts {
  readonly period: Period;
  /** The days of the period. */
  readonly states: readonly DayState[];
  /** The rows to add up. */
  readonly shown: readonly CostRow[];
  /** The rows of the period and of the compared days. */
  readonly rows: readonly CostRow[];
  readonly compared: PeriodComparison | null;
}

/**
 * The groups of two groupings, with the changes of their parts. Days, weeks and months have no change,
 * and so have the parts within one.
 */
export function comparedGroups(
  [by, thenBy]: TwoGroupings,
  { period, states, shown, rows, compared }: GroupedCosts,
  changes: LineChanges,
): readonly ComparedGroup[] {
  const groups = sumByTwo(shown, [by, thenBy], period);
  const parts = new Map(groups.map((group) => [group.line.key, group.parts]));
  const own = compared && changes ? rowsByLine(rows, by) : null;
  const lines = withVanished(
    groups.map(({ line }) => line),
    changes,
    lengthOf(period),
  );
  return onDays(lines, states, by).map((line) => {
    const within = own && compared ? lineChanges(own.get(line.key) ?? [], thenBy, compared) : null;
    const all = withVanished(parts.get(line.key) ?? [], within, lengthOf(period));
    const known = new Set(all.map(({ key }) => key));
    const named = onDays(all, states, thenBy).filter(({ key }) => known.has(key));
    return { line, parts: named, changes: within };
  });
}

/** Days, weeks and months with their names, also those without costs. */
function onDays(
  lines: readonly SummaryLine[],
  states: readonly DayState[],
  by: Grouping,
): readonly SummaryLine[] {
  return isOfTime(by) ? onCalendar(lines, states, by) : lines;
}
