import { type Grouping, isOfTime } from '../../costs/ledger/grouping.ts';
import { OTHER_LINES, type SummaryLine } from '../../costs/ledger/summary.ts';
import type { LineGroup, TwoGroupings } from '../../costs/ledger/two-groupings.ts';
import type { AnswerPart, Cell } from '../../intent/answers/answer.ts';
import {
  combined,
  combinedChange,
  figuresLength,
  type LineChange,
  type LineChanges,
  ROWS_MAX,
  TEXT_MAX,
} from './cost-lines.ts';
import { amountCells, captionOf, dateCell, headingOf } from './cost-table.ts';

/** A group with the changes of its parts. */
export interface ComparedGroup extends LineGroup {
  readonly changes: LineChanges;
}

/** What the table shows. `top`: so many groups, the most expensive ones first. */
interface TwoWayCosts {
  readonly groupings: TwoGroupings;
  readonly groups: readonly ComparedGroup[];
  readonly changes: LineChanges;
  readonly top: number | null;
}

type Change = LineChange | undefined;

interface TableRow {
  readonly group: Pick<SummaryLine, 'key' | 'name'>;
  /** Null for a subtotal. */
  readonly part: Pick<SummaryLine, 'key' | 'name'> | null;
  readonly line: SummaryLine;
  readonly change: Change;
}

const PARTS_MOST = 31;
const PARTS_LEAST = 3;

/**
 * One table with a subtotal for each line of the first grouping and its parts below it. What does not
 * fit is combined: first the cheapest parts of each group, then the cheapest groups; of days, weeks and
 * months the earliest. So the parts always add up to their subtotal, and the subtotals to the total.
 */
export function twoWayTable(costs: TwoWayCosts): AnswerPart {
  const { groupings, groups, changes } = costs;
  const [by, thenBy] = groupings;
  const total = combined(
    groups.map(({ line }) => line),
    { key: 'all', name: 'All' },
  );
  const rows = [
    ...fittingRows(costs),
    {
      group: total,
      part: null,
      line: total,
      change: combinedChange([...(changes?.values() ?? [])]),
    },
  ];
  const lines = rows.map(({ line }) => line);
  const { columns, cellsOf } = amountCells(lines, changes !== null);
  return {
    kind: 'table',
    caption: captionOf(`${by} and ${thenBy}`, lines),
    columns: [headingOf(by), headingOf(thenBy), ...columns],
    rows: rows.map(({ group, part, line, change }) => [
      nameCell(group, by),
      nameCell(part ?? SUBTOTAL, thenBy),
      ...cellsOf(line, change),
    ]),
  };
}

const SUBTOTAL = { key: 'total', name: 'Total' };

function nameCell({ key, name }: Pick<SummaryLine, 'key' | 'name'>, by: Grouping): Cell {
  return isOfTime(by) ? dateCell(key, name) : name;
}

function fittingRows(costs: TwoWayCosts): readonly TableRow[] {
  const { groups, changes } = costs;
  const [, thenBy] = costs.groupings;
  const rowsWith = (most: number) =>
    groups.map((group) => rowsOf(group, thenBy, { most, change: changes?.get(group.line.key) }));
  let most = PARTS_MOST;
  while (most > PARTS_LEAST && !isOfTime(thenBy) && !fits(rowsWith(most).flat(), costs)) most -= 1;
  return fittingGroups(costs, rowsWith(most));
}

function rowsOf(
  { line, parts, changes }: ComparedGroup,
  thenBy: Grouping,
  { most, change }: { readonly most: number; readonly change: Change },
): readonly TableRow[] {
  const row = (part: SummaryLine | null, own: Change): TableRow => ({
    group: line,
    part,
    line: part ?? line,
    change: own,
  });
  const left = parts.length > most ? parts.length - most + 1 : 0;
  const isTime = isOfTime(thenBy);
  const folded = isTime ? parts.slice(0, left) : parts.slice(parts.length - left);
  const name = isTime ? `${left} earlier ${thenBy}s` : `${left} more`;
  const rest =
    left > 0 ? [row(combined(folded, { key: 'more', name }), changeOf(folded, changes))] : [];
  const shown = isTime ? parts.slice(left) : parts.slice(0, parts.length - left);
  const own = shown.map((part) => row(part, changes?.get(part.key)));
  return [row(null, change), ...(isTime ? [...rest, ...own] : [...own, ...rest])];
}

function changeOf(lines: readonly SummaryLine[], changes: LineChanges): Change {
  return combinedChange(lines.map(({ key }) => changes?.get(key)));
}

/** As many whole groups as fit; the others are one row. */
function fittingGroups(
  costs: TwoWayCosts,
  groups: readonly (readonly TableRow[])[],
): readonly TableRow[] {
  const { top } = costs;
  const [by] = costs.groupings;
  const isByTime = isOfTime(by) && top === null;
  const ordered = isByTime ? groups.toReversed() : groups;
  let count = Math.min(top ?? ordered.length, ordered.length);
  while (count > 0 && !fits(ordered.slice(0, count).flat(), costs)) count -= 1;
  const rest = ordered.slice(count).flatMap((rows) => rows.slice(0, 1));
  const name = isByTime ? `${rest.length} earlier ${by}s` : `Other (${rest.length})`;
  const other = rest.length > 0 ? [otherRow(rest, name)] : [];
  const shown = ordered.slice(0, count);
  return isByTime ? [...other, ...shown.toReversed().flat()] : [...shown.flat(), ...other];
}

function otherRow(rest: readonly TableRow[], name: string): TableRow {
  const group = { key: OTHER_LINES, name };
  const lines = rest.map(({ line }) => line);
  const change = combinedChange(rest.map((row) => row.change));
  return { group, part: null, line: combined(lines, group), change };
}

/** With room for the rows of the others and of the total. */
function fits(rows: readonly TableRow[], { changes }: TwoWayCosts): boolean {
  const lines = rows.map(({ line }) => line);
  const figures = figuresLength(lines, changes);
  const size = rows.reduce(
    (sum, { group, part }) => sum + group.name.length + (part ?? SUBTOTAL).name.length + figures,
    0,
  );
  return rows.length <= ROWS_MAX - 2 && size <= TEXT_MAX;
}
