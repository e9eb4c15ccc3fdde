import { type Span, within } from '../../src/base/calendar.ts';
import { addDays, type Day, dayOf, daysBetween, weekdayOf } from '../../src/base/time.ts';
import { withOpenDays } from '../../src/costs/reader.ts';
import { type DaySnapshot, learnLockAge, snapshotHistory } from '../../src/maths/days.ts';
import type { CostReading } from '../../src/maths/report.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { stored, usualShare } from '../maths/fetched-reports.ts';
import { row, warehouseRow } from '../maths/rows.ts';

const HOUR_MS = 3_600_000;
/** The first day with costs. */
export const BILL_FROM = '2026-07-01';

export interface LateBill {
  readonly lockAge: number;
  /** A factor of the usual costs of analytics-prod. */
  readonly factor?: (day: Day) => number;
  /** The day from which Signalbox fetches the report, every six hours. */
  readonly installed: Day;
}

/** What Signalbox reads of a bill that locks late: the rows and what its own snapshots show. */
export function readBill(bill: LateBill, now: Date, span: Span): CostReading {
  const start = Date.parse(`${bill.installed}T01:00:00Z`);
  const seen: DaySnapshot[] = [];
  for (let at = start; at <= now.getTime(); at += 6 * HOUR_MS) seen.push(...reportAt(bill, at));
  const history = snapshotHistory(stored(seen));
  const rows = withOpenDays({ rows: rowsAt(bill, now, BILL_FROM), fetchedAt: now }, history);
  return {
    rows: within(rows, span),
    fetchedAt: now,
    problems: [],
    gaps: [],
    lockAge: learnLockAge(history),
  };
}

const knownReports = new WeakMap<LateBill, Map<number, readonly DaySnapshot[]>>();

/** What the report of this time shows; each later reading of the bill needs it again. */
function reportAt(bill: LateBill, time: number): readonly DaySnapshot[] {
  const reports = knownReports.get(bill) ?? new Map<number, readonly DaySnapshot[]>();
  knownReports.set(bill, reports);
  const known = reports.get(time);
  if (known) return known;
  const fetchedAt = new Date(time);
  // Older days are final in all reports: they show nothing.
  const first = addDays(dayOf(fetchedAt), -30);
  const report = totalsOf(rowsAt(bill, fetchedAt, first), fetchedAt);
  reports.set(time, report);
  return report;
}

function rowsAt({ lockAge, factor = () => 1 }: LateBill, now: Date, from: Day): readonly CostRow[] {
  const today = now.toISOString().slice(0, 10);
  return daysBetween(from < BILL_FROM ? BILL_FROM : from, today).flatMap((day) => {
    const age = (now.getTime() - Date.parse(`${day}T00:00:00Z`)) / (24 * HOUR_MS);
    const locked = Math.floor(age) >= lockAge;
    const share = locked ? 1 : usualShare(age);
    const usual = share * (weekdayOf(day) > 4 ? 0.4 : 1) * (1 + (Number(day.slice(8)) % 5) / 100);
    const over = { day, locked };
    return [
      row({ ...over, credits: 100 * usual * factor(day) }),
      row({ ...over, entityId: 's-2', entityName: 'staging', credits: 30 * usual }),
      warehouseRow({ ...over, credits: 12, metrics: { storageCredits: 12_000_000 } }),
    ];
  });
}

function totalsOf(rows: readonly CostRow[], fetchedAt: Date): readonly DaySnapshot[] {
  return [...Map.groupBy(rows, ({ day }) => day)].map(([day, own]) => ({
    day,
    fetchedAt,
    total: own.reduce((sum, { total }) => sum + total, 0),
    final: own.every(({ locked }) => locked),
  }));
}
