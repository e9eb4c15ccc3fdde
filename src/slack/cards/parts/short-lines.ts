import type { Plan, PlanRow } from '../../../changes/change.ts';
import { valueText } from '../../../workflow/request/plan.ts';
import { lines, type MessagePart } from '../../blocks/blocks.ts';
import { bounded, type Line, type RichInline } from '../../blocks/rich-text.ts';
import { beforeAfterTable } from '../../blocks/table.ts';
import { rowLines, storedInstant } from '../plan-lines.ts';

/** The lines above the buttons of a card or preview, with a line for each row of a table. */
export const LINES_MAX = 8;
/** Four rows of 45 characters on a phone: eight such lines fit on one screen. */
export const LINE_MAX = 180;

/** The content of a card or preview, in the order in which it is shown. */
export interface Summary {
  readonly head: readonly Line[];
  /** Those without a line of their own are counted. */
  readonly warnings: readonly Line[];
  /** The changed fields, shortened to one line where there is no room. */
  readonly plan: Pick<Plan, 'rows' | 'unchangedFields'>;
  /** The most important first: those without room are only in *Show request*. */
  readonly facts: readonly Line[];
  /** Left out where there is no room: *Show request* has them. */
  readonly extras: readonly Line[];
}

/** A summary as blocks with at most eight lines. */
export function summaryParts(summary: Summary): readonly (MessagePart | null)[] {
  const { head, plan, extras } = summary;
  const room = LINES_MAX - head.length - Math.min(summary.warnings.length, 1);
  const facts = [...unchangedLines(plan), ...summary.facts].slice(0, room);
  const free = LINES_MAX - head.length - facts.length;
  const warnings = counted(summary.warnings, Math.max(1, free - Math.min(plan.rows.length, 1)));
  const rows = shownRows(plan, free - warnings.length);
  const above = [...head, ...warnings, ...rows.lines];
  const used = above.length + rows.count + facts.length;
  const below = [...facts, ...extras.slice(0, Math.max(0, LINES_MAX - used))];
  if (!rows.table) return [lines(...[...above, ...below].map(shortLine))];
  return [lines(...above.map(shortLine)), rows.table, lines(...below.map(shortLine))];
}

function unchangedLines({ unchangedFields }: Summary['plan']): readonly Line[] {
  return unchangedFields.length > 0 ? [[`Unchanged: ${unchangedFields.join(', ')}`]] : [];
}

interface ShownRows {
  readonly lines: readonly Line[];
  readonly table: MessagePart | null;
  /** The lines of the table. */
  readonly count: number;
}

/** A table for an update that sends all fields, else a line for each field, or one line for all. */
function shownRows({ rows, unchangedFields }: Summary['plan'], free: number): ShownRows {
  const none = { lines: [], table: null, count: 0 };
  if (rows.length === 0 || free < 1) return none;
  if (unchangedFields.length > 0 && free > 1) {
    const fits = rows.length <= free ? rows.length : free - 1;
    const cells = rows.slice(0, fits).map(cellsOf);
    const left = rows.length - fits;
    const more = left > 0 ? [[`${left} more`, '–', 'in Show request'] as const] : [];
    const all = [...cells, ...more];
    return { lines: [], table: beforeAfterTable(all), count: all.length };
  }
  const own = rowLines(rows);
  return { ...none, lines: own.length <= free ? own : [joined(own)] };
}

function cellsOf({ label, before, after }: PlanRow) {
  return [label, cellOf(before), cellOf(after)] as const;
}

const CELL_MAX = 60;

function cellOf(value: PlanRow['before']): string | Date {
  return storedInstant(value)?.at ?? bounded(value === null ? '–' : valueText(value), CELL_MAX);
}

/** The first lines; the last of them counts the others. */
function counted(all: readonly Line[], most: number): readonly Line[] {
  const left = all.length - most;
  if (left <= 0) return all;
  const more = ` (${left} more in Show request)`;
  const last = cut(all[most - 1] ?? [], LINE_MAX - more.length);
  return [...all.slice(0, most - 1), [...last, more]];
}

/** As many facts as fit on one line, and the number of the others. */
function joined(all: readonly Line[]): Line {
  const room = LINE_MAX - 30;
  let shown: Line = cut(all[0] ?? [], room);
  let count = 1;
  for (const line of all.slice(1)) {
    if (lengthOf(shown) + lengthOf(line) + 3 > room) break;
    shown = [...shown, ' · ', ...line];
    count += 1;
  }
  const left = all.length - count;
  return left > 0 ? [...shown, ` · ${left} more in Show request`] : shown;
}

/** Short lines as one line: `Runs  20:00 · Reverts  4 h later`. */
export function asOneLine(all: readonly Line[]): readonly Line[] {
  return all.length > 1 ? [joined(all)] : all;
}

function shortLine(line: Line): Line {
  return cut(line, LINE_MAX);
}

function cut(line: Line, most: number): Line {
  let left = most;
  return line.flatMap((part) => {
    if (left <= 0) return [];
    const length = lengthOf([part]);
    left -= length;
    return [left < 0 ? cutPart(part, left + length) : part];
  });
}

function cutPart(part: RichInline, most: number): RichInline {
  if (typeof part === 'string') return bounded(part, most);
  if ('bold' in part) return { bold: bounded(part.bold, most) };
  return 'code' in part ? { code: bounded(part.code, most) } : part;
}

/** How many characters users see: about 12 of a name, and 24 of a time. */
function lengthOf(line: Line): number {
  return line.reduce((sum, part) => sum + partLength(part), 0);
}

function partLength(part: RichInline): number {
  if (typeof part === 'string') return part.length;
  if ('bold' in part) return part.bold.length;
  if ('code' in part) return part.code.length;
  if ('text' in part) return part.text.length;
  return 'at' in part ? 24 : 12;
}

export function warningLine(warning: string): Line {
  return [{ bold: '⚠ ' }, warning];
}
