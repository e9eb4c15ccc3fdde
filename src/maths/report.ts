import { cached } from '../base/cache.ts';
import { formatSpan, isDay, isWithin, type Span } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import type { AppliedChange } from './anomalies.ts';
import type { PriceList } from './money.ts';
import { figure } from './numbers.ts';
import {
  type CostRow,
  entityKey,
  entityOf,
  METRICS,
  type Metric,
  type Micro,
  microOf,
  REPORT_ROUNDING,
} from './rows.ts';

// The usage report as rows, what is wrong with it, and how much of a span of days it covers.

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

const MOST_CACHED_DAYS = 100;

/**
 * Reads one reply of the usage report, in batches of its rows and in their order: rows in millionths
 * of a credit, on the UTC days of `asked`.
 *
 * Never throws and never guesses a figure. A row without day, entity or any valid figure is left out.
 * All faults are counted. Checks:
 * `|Σ metrics − total| ≤ 0.005` in each row with metrics, and
 * `|Σ totals − grand total| ≤ 0.005 × rows` (at least one) for the report. Negative figures are kept,
 * because a correction is part of the bill. Source: docs/costs.md#reading-the-report.
 */
export function createReportReader(asked: Span) {
  const counts = new Map<string, RowProblem>();
  // By day, because questions concern days and not whole replies.
  const note = (day: Day | null, name: RowFault) => {
    const key = `${day} ${name}`;
    counts.set(key, { name, day, count: (counts.get(key)?.count ?? 0) + 1 });
  };
  // A report has few days in many thousand rows, so each is parsed once.
  const dayIn = cached(MOST_CACHED_DAYS, dayOfText);
  const days = new Map<Day, Map<string, CostRow>>();
  return {
    add: (batch: readonly ReportRow[]): void => {
      for (const reported of batch) {
        const day = dayIn(reported.date);
        const row = readRow(reported, day, asked, (fault) => note(day, fault));
        if (row !== null) keep(row, days);
      }
    },
    // Rows: one per day, kind and id of an entity; problems: each fault once per day, with its number of rows.
    finish: (grandTotalCredits: number | null): Pick<CostReading, 'rows' | 'problems'> => {
      const rows: CostRow[] = [];
      for (const ofDay of days.values()) for (const row of ofDay.values()) rows.push(row);
      const off = grandTotalProblem(rows, grandTotalCredits, asked);
      return { rows, problems: [...counts.values(), ...off] };
    },
  };
}

/** Some servers write a day as its first instant, `2026-11-19T00:00:00Z`. */
function dayOfText(text: string | null): Day | null {
  const day = /^(\d{4}-\d\d-\d\d)(?:T00:00:00(?:\.0+)?Z)?$/.exec(text ?? '')?.[1];
  return day !== undefined && isDay(day) ? day : null;
}

function readRow(
  reported: ReportRow,
  day: Day | null,
  asked: Span,
  note: NoteFault,
): CostRow | null {
  if (day === null) return left('without-day', note);
  if (!reported.entityId) return left('without-entity', note);
  if (!isWithin(asked, day)) return null;

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

/**
 * The metrics and the total of a row. A missing total is the sum of the metrics; null without both.
 * One pass without intermediate lists, because a month has tens of thousands of rows.
 */
function figuresOf(
  reported: Pick<ReportRow, 'metrics' | 'totalCredits'>,
  note: NoteFault,
): Pick<CostRow, 'metrics' | 'total'> | null {
  const metrics: Record<string, Micro> = {};
  const seen = { count: 0, sum: 0, odd: false };
  for (const metric in reported.metrics) {
    const credits = reported.metrics[metric] ?? null;
    if (credits === null) continue;
    const micro = microOf(credits);
    if (!isExact(micro)) {
      // Another field of the metrics may be a text.
      if (!isMetric(metric)) continue;
      seen.odd = true;
      note('not-a-number');
      continue;
    }
    metrics[metric] = micro;
    seen.count += 1;
    seen.sum += micro;
  }

  const total = totalOf(reported.totalCredits, seen, note);
  return total === null ? null : { metrics, total };
}

function isMetric(name: string): name is Metric {
  return KNOWN_METRICS.has(name);
}

const KNOWN_METRICS: ReadonlySet<string> = new Set(METRICS);

/** Whether the millionths are exact: below nine thousand million credits. */
function isExact(micro: Micro): boolean {
  return Number.isSafeInteger(micro);
}

function totalOf(
  reported: number | null,
  { count, sum, odd }: { readonly count: number; readonly sum: Micro; readonly odd: boolean },
  note: NoteFault,
): Micro | null {
  const total = reported === null ? null : microOf(reported);
  if (total === null || !isExact(total)) {
    // With an invalid metric, the others are only a part of the total.
    if (count === 0 || odd) return null;
    note(total === null ? 'without-total' : 'not-a-number');
    return sum;
  }
  // With an invalid metric, which is counted above, the others cannot add up to the total.
  if (count > 0 && !odd && Math.abs(total - sum) > REPORT_ROUNDING) note('metrics-off');
  return total;
}

function keep(row: CostRow, days: Map<Day, Map<string, CostRow>>): void {
  const ofDay = days.get(row.day) ?? new Map<string, CostRow>();
  if (ofDay.size === 0) days.set(row.day, ofDay);
  const key = entityKey(row);
  const before = ofDay.get(key);
  ofDay.set(key, before ? added(before, row) : row);
}

/** Two rows of one entity and day are parts of its cost. */
function added(one: CostRow, other: CostRow): CostRow {
  const metrics: Record<string, Micro> = { ...one.metrics };
  for (const name in other.metrics)
    metrics[name] = (metrics[name] ?? 0) + (other.metrics[name] ?? 0);
  const locked = one.locked && other.locked;
  return { ...other, metrics, total: one.total + other.total, locked };
}

function grandTotalProblem(
  rows: readonly CostRow[],
  reported: number | null,
  of: Span,
): ReportProblem[] {
  if (reported === null || !isExact(microOf(reported))) return [];
  const counted = rows.reduce((sum, { total }) => sum + total, 0);
  const off = Math.abs(counted - microOf(reported));
  if (off <= REPORT_ROUNDING * Math.max(1, rows.length)) return [];
  return [{ name: 'grand-total-off', counted, reported: microOf(reported), of }];
}

/** The possible faults of one row of the usage report. */
type RowFault =
  | 'without-day'
  | 'without-entity'
  | 'without-figures'
  | 'without-total'
  | 'not-a-number'
  | 'metrics-off';

export interface RowProblem {
  readonly name: RowFault;
  /** Null for rows without a day. */
  readonly day: Day | null;
  readonly count: number;
}

export type ReportProblem =
  | RowProblem
  | {
      readonly name: 'grand-total-off';
      readonly counted: Micro;
      readonly reported: Micro;
      /** The days of the reply, which both sums cover. */
      readonly of: Span;
    };

/** Counts a fault of the current row. */
type NoteFault = (fault: RowFault) => void;

const ROW_FAULTS: Readonly<Record<RowFault, string>> = {
  'without-day': 'without a day: left out',
  'without-entity': 'without an id: left out',
  'without-figures': 'without any figure: left out',
  'without-total': 'without a total: their metrics were summed',
  'not-a-number': 'with a figure that is not a number: it is left out',
  'metrics-off': 'whose metrics do not add up to their total: the total counts',
};

/** The faults of rows whose costs are missing in all sums. */
const LOST: readonly string[] = ['without-day', 'without-entity', 'without-figures'];

/** The number of rows of the span whose costs could not be read, so that its sum is not known. */
export function lostRows(problems: readonly ReportProblem[], span: Span): number {
  return problemsOf(problems, [span]).reduce(
    (sum, problem) =>
      problem.name !== 'grand-total-off' && LOST.includes(problem.name) ? sum + problem.count : sum,
    0,
  );
}

/** A problem as text, for the footer of an answer. */
export function problemText(problem: ReportProblem): string {
  if (problem.name === 'grand-total-off') {
    const { counted, reported, of } = problem;
    return `figures of ${formatSpan(of, of.last)} do not add up (${figure(counted)} vs ${figure(reported)})`;
  }
  const rows = `${problem.count} ${problem.count === 1 ? 'row' : 'rows'}`;
  return `${rows} ${ROW_FAULTS[problem.name]}`;
}

/** The problems of these days. A wrong grand total concerns all days. */
export function problemsOf(
  problems: readonly ReportProblem[],
  spans: readonly Span[],
): readonly ReportProblem[] {
  const isShown = (day: Day | null) => day === null || spans.some((span) => isWithin(span, day));
  return problems.filter((problem) => problem.name === 'grand-total-off' || isShown(problem.day));
}

/** Adds up the row problems of several days and replies; wrong grand totals stay separate. */
export function mergeProblems(problems: readonly ReportProblem[]): readonly ReportProblem[] {
  const merged = new Map<string, RowProblem>();
  for (const problem of problems) {
    if (problem.name === 'grand-total-off') continue;
    const key = problem.name;
    const count = (merged.get(key)?.count ?? 0) + problem.count;
    merged.set(key, { ...problem, day: null, count });
  }
  return [...merged.values(), ...problems.filter(({ name }) => name === 'grand-total-off')];
}

/** The costs of a span of days, and how complete they are. */
export interface CostReading {
  readonly rows: readonly CostRow[];
  /**
   * When the oldest part that can still change was fetched; if all months are final, when the last
   * of them was fetched; null without any part.
   */
  readonly fetchedAt: Date | null;
  /** Every month is final, so that none of them is fetched again. */
  readonly isFinal?: boolean;
  readonly problems: readonly ReportProblem[];
  /** The months that could not be read now. An older copy is used if there is one. */
  readonly gaps: readonly CostGap[];
  /** The changes that Signalbox applied in the last weeks. They explain costs. */
  readonly changes?: readonly AppliedChange[];
  /** The prices of a credit; null or absent without `costs.price`. */
  readonly prices?: PriceList | null;
  /** The parts of several organizations; absent for a single one. */
  readonly organizations?: readonly OrganizationCosts[];
}

/** The costs of one of several organizations. */
export interface OrganizationCosts {
  readonly name: string;
  readonly read: CostReading;
  /** A month without a copy, or with one that has not all of the days: sums are without it. */
  readonly isMissing: boolean;
}

export interface CostGap {
  /** Which of several organizations; one that is left out has no copy. */
  readonly organization?: string;
  /** As 2026-11. */
  readonly month: string;
  readonly why: string;
  /** The API key has no access: a retry does not help until an operator fixes it. */
  readonly denied: boolean;
  /** When the older copy was fetched; null without a copy. */
  readonly from: Date | null;
}

/**
 * The months without any copy, as 2026-11. A forecast is not possible then: a month without rows would
 * look like a month without costs.
 */
export function unreadMonths({ gaps }: Pick<CostReading, 'gaps'>): readonly string[] {
  // An organization that is left out leaves no month of the others unknown.
  const unread = gaps.filter(
    ({ from, organization }) => from === null && organization === undefined,
  );
  return unread.map(({ month }) => month);
}
