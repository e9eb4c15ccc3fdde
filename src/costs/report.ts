import { isDay, type Span } from './calendar.ts';
import type { Day } from './day.ts';
import { entityOf } from './entity.ts';
import type { ReportProblem, RowFault } from './report-problem.ts';
import { type CostRow, METRICS, type Metric, type Micro, microOf } from './row.ts';

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

export interface Report {
  readonly grandTotalCredits: number | null;
  readonly costs: readonly ReportRow[];
}

export interface ReadReport {
  /** One per entity and day, in the order in which the report first named them. */
  readonly rows: readonly CostRow[];
  /** Each fault once, with how many rows have it; empty where the report is as it should be. */
  readonly problems: readonly ReportProblem[];
}

type Note = (fault: RowFault) => void;

/** Credits by which figures that belong together may differ; the source rounds. */
const TOLERANCE: Micro = microOf(0.005);

/**
 * One reply of the usage report → rows in millionths of a credit, on UTC days within `asked`.
 *
 * Never throws and never guesses a figure: a row without day, entity or any usable figure is left
 * out, one that is told twice counts as told last, and each such fault is counted. Checked are
 * `|Σ metrics − total| ≤ 0.005` in each row that names metrics, and
 * `|Σ totals − grand total| ≤ 0.005 × rows` (at least one) for the whole. Negative figures are kept,
 * for a correction is part of the bill, and are counted too. Source: cost.md §0.
 */
export function readReport(report: Report, asked: Span): ReadReport {
  const counts = new Map<RowFault, number>();
  const note: Note = (fault) => counts.set(fault, (counts.get(fault) ?? 0) + 1);
  const days = new Map<Day, Map<string, CostRow>>();
  for (const told of report.costs) {
    const row = readRow(told, asked, note);
    if (row !== null) keep(row, days, note);
  }

  const rows = [...days.values()].flatMap((ofDay) => [...ofDay.values()]);
  const faults = [...counts].map(([name, count]) => ({ name, count }) as const);
  return { rows, problems: [...faults, ...grandTotalProblem(rows, report.grandTotalCredits)] };
}

function keep(row: CostRow, days: Map<Day, Map<string, CostRow>>, note: Note): void {
  const ofDay = days.get(row.day) ?? new Map<string, CostRow>();
  if (ofDay.has(row.entityId)) note('told-twice');
  days.set(row.day, ofDay.set(row.entityId, row));
}

function readRow(told: ReportRow, asked: Span, note: Note): CostRow | null {
  const day = dayIn(told.date);
  if (day === null) return left('without-day', note);
  if (!told.entityId) return left('without-entity', note);
  if (day < asked.first || day > asked.last) return left('not-asked-for', note);

  const metrics = metricsOf(told.metrics ?? {}, note);
  const total = totalOf(told.totalCredits, metrics, note);
  if (total === null) return left('without-figures', note);
  if (Math.min(total, ...Object.values(metrics)) < 0) note('negative');
  return { day, ...entityOf(told, told.entityId), metrics, total, locked: told.locked ?? false };
}

function left(fault: RowFault, note: Note): null {
  note(fault);
  return null;
}

/** Some servers write a day as its first instant. */
function dayIn(text: string | null): Day | null {
  const day = /^(\d{4}-\d\d-\d\d)(?:T00:00:00(?:\.0+)?Z)?$/.exec(text ?? '')?.[1];
  return day !== undefined && isDay(day) ? day : null;
}

function metricsOf(told: Readonly<Record<string, number | null>>, note: Note): CostRow['metrics'] {
  const metrics: Partial<Record<Metric, Micro>> = {};
  let odd = false;
  for (const metric of METRICS) {
    const credits = told[metric] ?? null;
    if (credits === null) continue;
    if (isExact(credits)) metrics[metric] = microOf(credits);
    else odd = true;
  }
  if (odd) note('not-a-number');
  return metrics;
}

/** Where the total is missing, the metrics tell it, if there are any. */
function totalOf(told: number | null, metrics: CostRow['metrics'], note: Note): Micro | null {
  const parts = Object.values(metrics);
  const sum = parts.reduce((one, other) => one + other, 0);
  if (told === null || !isExact(told)) {
    if (parts.length === 0) return null;
    note('without-total');
    return sum;
  }
  const total = microOf(told);
  if (parts.length > 0 && Math.abs(total - sum) > TOLERANCE) note('metrics-off');
  return total;
}

function grandTotalProblem(rows: readonly CostRow[], told: number | null): ReportProblem[] {
  if (told === null || !isExact(told)) return [];
  const counted = rows.reduce((sum, { total }) => sum + total, 0);
  const off = Math.abs(counted - microOf(told));
  if (off <= TOLERANCE * Math.max(1, rows.length)) return [];
  return [{ name: 'grand-total-off', counted, told: microOf(told) }];
}

/** What millionths cannot hold, from nine thousand million credits on, is no figure either. */
function isExact(credits: number): boolean {
  return Number.isSafeInteger(microOf(credits));
}
