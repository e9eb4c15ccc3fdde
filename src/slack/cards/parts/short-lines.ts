import type { Plan, PlanRow } from '../../../changes/change.ts';
import { valueText } from '../../../directory/directory.ts';
import { lines, type MessagePart } from '../../blocks/blocks.ts';
import { bounded, type Line } from '../../blocks/rich-text.ts';
import { beforeAfterTable } from '../../blocks/table.ts';
import { rowLines, storedInstant } from '../plan-lines.ts';
import {
  counted,
  joined,
  LINE_MAX,
  linesThatFit,
  listed,
  rowsOf,
  type Shrinkable,
  shrinkable,
  widen,
} from './shrinkable.ts';

/** The displayed lines above the buttons of a card or preview: a long line is displayed as two. */
export const LINES_MAX = 8;

/** The content of a card or preview, in the order in which it is shown. */
export interface Summary {
  /** Never left out. */
  readonly head: readonly Line[];
  /** The most important facts, above the warnings. */
  readonly lead?: readonly Line[];
  /** Those without a line of their own are counted. */
  readonly warnings: readonly Line[];
  /** The changed fields, shortened to one line where there is no room. */
  readonly plan: Pick<Plan, 'rows' | 'unchangedFields'>;
  /** The most important first: those without room are only in *Show request*. */
  readonly facts: readonly Line[];
  /** Left out where there is no room: *Show request* has them. */
  readonly extras: readonly Line[];
}

/** A summary as blocks with at most eight displayed lines. */
export function summaryParts(summary: Summary): readonly (MessagePart | null)[] {
  const { plan, extras } = summary;
  const head = summary.head.map(shrinkable);
  const room = LINES_MAX - rowsOf(head);
  const forFacts = room - Math.min(summary.warnings.length, 1);
  const lead = (summary.lead ?? []).slice(0, forFacts).map(shrinkable);
  const all = [...unchangedLine(plan), ...summary.facts.map(shrinkable)];
  const facts = all.slice(0, Math.max(0, forFacts - lead.length));
  const free = room - lead.length - facts.length;
  const warnings = counted(summary.warnings, Math.max(1, free - Math.min(plan.rows.length, 1)));
  const rows = shownRows(plan, free - warnings.length);
  const used = lead.length + facts.length + warnings.length + rows.lines.length + rows.count;
  const { most, left } = widen([...warnings, ...lead, ...rows.lines, ...facts], room - used);
  const drawn = (each: Shrinkable) => each.draw(most.get(each) ?? LINE_MAX);
  const above = [...head, ...lead, ...warnings, ...rows.lines].map(drawn);
  const below = [...facts.map(drawn), ...linesThatFit(extras, left)];
  if (!rows.table) return [lines(...above, ...below)];
  return [lines(...above), rows.table, lines(...below)];
}

/** The labels only: *Show request* has what the fields refer to. */
function unchangedLine({ unchangedFields }: Summary['plan']): readonly Shrinkable[] {
  const labels = unchangedFields.map((field) => field.replace(/ \(.*$/s, ''));
  return labels.length > 0 ? [listed('Unchanged', labels)] : [];
}

interface ShownRows {
  readonly lines: readonly Shrinkable[];
  readonly table: MessagePart | null;
  /** The displayed lines of the table. */
  readonly count: number;
}

/** A table for an update that sends all fields, else a line for each field, or one line for all. */
function shownRows({ rows, unchangedFields }: Summary['plan'], free: number): ShownRows {
  const none = { lines: [], table: null, count: 0 };
  if (rows.length === 0 || free < 1) return none;
  const own = rowLines(rows);
  const drawn = unchangedFields.length > 0 ? tableOf(rows, free - 1) : null;
  if (drawn) return drawn;
  return { ...none, lines: own.length <= free ? own.map(shrinkable) : [joined(own)] };
}

/** The characters of a cell before it wraps. */
const CELL_ROW_MAX = 40;
const CELL_MAX = 60;

/** As many rows as fit below the header, with one that counts the others; null if none fits. */
function tableOf(rows: readonly PlanRow[], free: number): ShownRows | null {
  const cells = rows.map(cellsOf);
  let fits = 0;
  let count = 0;
  for (const row of cells) {
    const rest = fits + 1 < rows.length ? 1 : 0;
    if (count + rowsOfCells(row) + rest > free) break;
    count += rowsOfCells(row);
    fits += 1;
  }
  if (fits === 0) return null;
  const left = rows.length - fits;
  const more = left > 0 ? [[`${left} more`, '–', 'in Show request'] as const] : [];
  const table = beforeAfterTable([...cells.slice(0, fits), ...more]);
  return { lines: [], table, count: 1 + count + more.length };
}

function rowsOfCells(cells: readonly (string | Date)[]): number {
  const lengths = cells.map((cell) => (cell instanceof Date ? 0 : cell.length));
  return Math.max(...lengths) > CELL_ROW_MAX ? 2 : 1;
}

function cellsOf({ label, before, after }: PlanRow) {
  return [label, cellOf(before), cellOf(after)] as const;
}

function cellOf(value: PlanRow['before']): string | Date {
  return storedInstant(value)?.at ?? bounded(value === null ? '–' : valueText(value), CELL_MAX);
}

/** Short lines as one line: `Runs  20:00 · Reverts  4 h later`. */
export function asOneLine(all: readonly Line[]): readonly Line[] {
  return all.length > 1 ? [joined(all).draw(LINE_MAX)] : all;
}

export function warningLine(warning: string): Line {
  return [{ bold: '⚠ ' }, warning];
}
