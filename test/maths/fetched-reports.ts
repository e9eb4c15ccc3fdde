import { addDays, type Day, daysBetween } from '../../src/base/time.ts';
import type { DaySnapshot } from '../../src/maths/days.ts';
import { chance } from './rows.ts';

const HOUR_MS = 3_600_000;
export const FIRST = '2026-08-01';

/** How a server reports its days. */
export interface ReportingServer {
  /** A day locks at this age, in days. */
  readonly lockAge: (day: Day) => number;
  /** The share of the final total that is reported at an age in days. */
  readonly share: (age: number, day: Day) => number;
}

export interface Fetches {
  /** The days from FIRST on, whose totals are 100 to 200 credits. */
  readonly days: number;
  /** Fetches begin at this many days after FIRST. */
  readonly from?: number;
  readonly everyHours?: number;
  readonly isDown?: (hours: number) => boolean;
}

/** Every report that was fetched: each day with its total, whether or not it changed. */
export function fetchedReports(server: ReportingServer, fetches: Fetches): readonly DaySnapshot[] {
  const { days, from = 0, everyHours = 4, isDown = () => false } = fetches;
  const random = chance(7);
  const totals = new Map(
    daysBetween(FIRST, addDays(FIRST, days)).map((day) => [day, Math.round(1e8 * (1 + random()))]),
  );
  const reports: DaySnapshot[] = [];
  for (let hours = from * 24; hours < days * 24; hours += everyHours) {
    const fetchedAt = new Date(Date.parse(`${FIRST}T02:00:00Z`) + hours * HOUR_MS);
    if (!isDown(hours)) reports.push(...reportAt(server, totals, fetchedAt));
  }
  return reports;
}

function reportAt(
  { lockAge, share }: ReportingServer,
  totals: ReadonlyMap<Day, number>,
  fetchedAt: Date,
): readonly DaySnapshot[] {
  return [...totals].flatMap(([day, total]) => {
    const age = (fetchedAt.getTime() - Date.parse(`${day}T00:00:00Z`)) / (24 * HOUR_MS);
    if (age < 0) return [];
    const final = age >= lockAge(day);
    return [{ day, fetchedAt, final, total: Math.round(final ? total : total * share(age, day)) }];
  });
}

/** What is stored of these reports: only changes. */
export function stored(reports: readonly DaySnapshot[]): readonly DaySnapshot[] {
  const last = new Map<Day, DaySnapshot>();
  return reports.filter((report) => {
    const before = last.get(report.day);
    last.set(report.day, report);
    return before?.total !== report.total || before.final !== report.final;
  });
}

/** The day grows until it ends, has 90% then, and all of it three days after its start. */
export function usualShare(age: number): number {
  return age < 1 ? 0.9 * age : Math.min(1, 0.9 + 0.05 * (age - 1));
}
