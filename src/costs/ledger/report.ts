import { isDay, isWithin, type Span } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import { entityOf } from './entity.ts';
import { createFaults, figuresOf, isExact, type NoteFault, TOLERANCE } from './figures.ts';
import type { ReportProblem, RowFault } from './report-problem.ts';
import { type CostRow, entityKey, microOf } from './row.ts';

/** A row of the API client. Fields that the server left out are null. */
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

interface UsageReport {
  readonly grandTotalCredits: number | null;
  readonly costs: readonly ReportRow[];
}

interface ReadReport {
  /** One per day, kind and id of an entity, in the order of the report. */
  readonly rows: readonly CostRow[];
  /** Each fault once per day, with its number of rows; empty for a correct report. */
  readonly problems: readonly ReportProblem[];
}

/**
 * Reads a reply of the usage report: rows in millionths of a credit, on the UTC days of `asked`.
 *
 * Never throws and never guesses a figure. A row without day, entity or any valid figure is left out,
 * and of duplicate rows the last one counts. All faults are counted. Checks:
 * `|Σ metrics − total| ≤ 0.005` in each row with metrics, and
 * `|Σ totals − grand total| ≤ 0.005 × rows` (at least one) for the report. Negative figures are kept,
 * because a correction is part of the bill, and are counted. Source: docs/costs.md#reading-the-report.
 */
export function readReport({ costs, grandTotalCredits }: UsageReport, asked: Span): ReadReport {
  const reader = createReportReader(asked);
  reader.add(costs);
  return reader.finish(grandTotalCredits);
}

/** Reads the rows of one report in batches, in the order of the report, like `readReport`. */
export function createReportReader(asked: Span) {
  const faults = createFaults();
  const dayIn = createDays();
  const days = new Map<Day, Map<string, CostRow>>();
  return {
    add: (batch: readonly ReportRow[]): void => {
      for (const reported of batch) {
        const day = dayIn(reported.date);
        faults.of(day);
        const row = readRow(reported, day, asked, faults.note);
        if (row !== null) keep(row, days, faults.note);
      }
    },
    finish: (grandTotalCredits: number | null): ReadReport => {
      const rows: CostRow[] = [];
      for (const ofDay of days.values()) for (const row of ofDay.values()) rows.push(row);
      const off = grandTotalProblem(rows, grandTotalCredits, asked);
      return { rows, problems: [...faults.counted(), ...off] };
    },
  };
}

function keep(row: CostRow, days: Map<Day, Map<string, CostRow>>, note: NoteFault): void {
  const ofDay = days.get(row.day) ?? new Map<string, CostRow>();
  if (ofDay.size === 0) days.set(row.day, ofDay);
  const key = entityKey(row);
  if (ofDay.has(key)) note('duplicate');
  ofDay.set(key, row);
}

function readRow(
  reported: ReportRow,
  day: Day | null,
  asked: Span,
  note: NoteFault,
): CostRow | null {
  if (day === null) return left('without-day', note);
  if (!reported.entityId) return left('without-entity', note);
  if (!isWithin(asked, day)) return left('not-asked-for', note);

  const figures = figuresOf(reported, note);
  if (figures === null) return left('without-figures', note);
  const { entityId, entityName, kind, serviceId, warehouseId } = entityOf(
    reported,
    reported.entityId,
  );
  const { metrics, total } = figures;
  const locked = reported.locked ?? false;
  // Spread syntax would double the time to read a report.
  return { day, entityId, entityName, kind, serviceId, warehouseId, metrics, total, locked };
}

function left(fault: RowFault, note: NoteFault): null {
  note(fault);
  return null;
}

/** A report has few days in many thousand rows, so each is parsed once. */
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

/** Some servers write a day as its first instant, `2026-11-19T00:00:00Z`. */
function dayOfText(text: string | null): Day | null {
  const day = /^(\d{4}-\d\d-\d\d)(?:T00:00:00(?:\.0+)?Z)?$/.exec(text ?? '')?.[1];
  return day !== undefined && isDay(day) ? day : null;
}

function grandTotalProblem(
  rows: readonly CostRow[],
  reported: number | null,
  of: Span,
): ReportProblem[] {
  if (reported === null || !isExact(microOf(reported))) return [];
  const counted = rows.reduce((sum, { total }) => sum + total, 0);
  const off = Math.abs(counted - microOf(reported));
  if (off <= TOLERANCE * Math.max(1, rows.length)) return [];
  return [{ name: 'grand-total-off', counted, reported: microOf(reported), of }];
}
