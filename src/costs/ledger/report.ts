import { isDay, type Span } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import { entityOf } from './entity.ts';
import { figuresOf, isExact, type NoteFault, TOLERANCE } from './figures.ts';
import type { ReportProblem, RowFault } from './report-problem.ts';
import { type CostRow, microOf } from './row.ts';
import { createFaults } from './row-faults.ts';

/** A row as the client hands it on: whatever the server left out or blanked is null. */
export interface ReportRow {
  readonly date: string | null;
  readonly entityId: string | null;
  readonly entityName: string | null;
  readonly entityType: string | null;
  readonly serviceId: string | null;
  readonly dataWarehouseId: string | null;
  readonly metrics: Readonly<Record<string, number | null>> | null;
  readonly totalCredits: number | null;
  readonly locked: boolean | null;
}

export interface UsageReport {
  readonly grandTotalCredits: number | null;
  readonly costs: readonly ReportRow[];
}

export interface ReadReport {
  /** One per entity and day, in the order in which the report first named them. */
  readonly rows: readonly CostRow[];
  /** Each fault once a day, with how many rows have it; empty where the report is as it should be. */
  readonly problems: readonly ReportProblem[];
}

/**
 * One reply of the usage report → rows in millionths of a credit, on UTC days within `asked`.
 *
 * Never throws and never guesses a figure: a row without day, entity or any usable figure is left
 * out, one that is told twice counts as told last, and each such fault is counted. Checked are
 * `|Σ metrics − total| ≤ 0.005` in each row that names metrics, and
 * `|Σ totals − grand total| ≤ 0.005 × rows` (at least one) for the whole. Negative figures are kept,
 * for a correction is part of the bill, and are counted too. Source: docs/costs.md#reading-the-report.
 */
export function readReport(report: UsageReport, asked: Span): ReadReport {
  const faults = createFaults();
  const dayIn = createDays();
  const days = new Map<Day, Map<string, CostRow>>();
  for (const told of report.costs) {
    const day = dayIn(told.date);
    faults.of(day);
    const row = readRow(told, day, asked, faults.note);
    if (row !== null) keep(row, days, faults.note);
  }

  const rows: CostRow[] = [];
  for (const ofDay of days.values()) for (const row of ofDay.values()) rows.push(row);
  const off = grandTotalProblem(rows, report.grandTotalCredits, asked);
  return { rows, problems: [...faults.counted(), ...off] };
}

function keep(row: CostRow, days: Map<Day, Map<string, CostRow>>, note: NoteFault): void {
  const ofDay = days.get(row.day) ?? new Map<string, CostRow>();
  if (ofDay.size === 0) days.set(row.day, ofDay);
  if (ofDay.has(row.entityId)) note('told-twice');
  ofDay.set(row.entityId, row);
}

function readRow(told: ReportRow, day: Day | null, asked: Span, note: NoteFault): CostRow | null {
  if (day === null) return left('without-day', note);
  if (!told.entityId) return left('without-entity', note);
  if (day < asked.first || day > asked.last) return left('not-asked-for', note);

  const figures = figuresOf(told, note);
  if (figures === null) return left('without-figures', note);
  const { entityId, entityName, kind, serviceId, warehouseId } = entityOf(told, told.entityId);
  const { metrics, total } = figures;
  const locked = told.locked ?? false;
  // Spreading the two parts would take as long as all the rest of the reading.
  return { day, entityId, entityName, kind, serviceId, warehouseId, metrics, total, locked };
}

function left(fault: RowFault, note: NoteFault): null {
  note(fault);
  return null;
}

/** A report writes few days many thousand times, and each is looked into once. */
function createDays(): (text: string | null) => Day | null {
  const known = new Map<string | null, Day | null>();
  return (text) => {
    const day = known.get(text);
    if (day !== undefined) return day;
    const read = dayOfText(text);
    known.set(text, read);
    return read;
  };
}

/** Some servers write a day as its first instant. */
function dayOfText(text: string | null): Day | null {
  const day = /^(\d{4}-\d\d-\d\d)(?:T00:00:00(?:\.0+)?Z)?$/.exec(text ?? '')?.[1];
  return day !== undefined && isDay(day) ? day : null;
}

function grandTotalProblem(
  rows: readonly CostRow[],
  told: number | null,
  of: Span,
): ReportProblem[] {
  if (told === null || !isExact(microOf(told))) return [];
  const counted = rows.reduce((sum, { total }) => sum + total, 0);
  const off = Math.abs(counted - microOf(told));
  if (off <= TOLERANCE * Math.max(1, rows.length)) return [];
  return [{ name: 'grand-total-off', counted, told: microOf(told), of }];
}
