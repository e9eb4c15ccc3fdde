const DAY_MS = 86_400_000;

export function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS);
}

/** The UTC day of a time in the format of the reports, for example 2026-11-22. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

// All rows of a report have the same day.
let latest = { day: '', start: Number.NaN };

export function startOf(day: string): Date {
  if (latest.day !== day) latest = { day, start: Date.parse(`${day}T00:00:00Z`) };
  return new Date(latest.start);
}

export function daysBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / DAY_MS;
}

/** The UTC days from the first to the last day, both included. */
export function daysOf(from: string, to: string): readonly string[] {
  const count = Math.round(daysBetween(startOf(from), startOf(to))) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    dayOf(addDays(startOf(from), index)),
  );
}

/** The share of the day, from 0 to 1, that lies between the two times. */
export function shareOfDay(day: string, from: Date, until: Date): number {
  const start = startOf(day).getTime();
  const begin = Math.max(start, from.getTime());
  const end = Math.min(start + DAY_MS, until.getTime());
  return Math.max(0, end - begin) / DAY_MS;
}
