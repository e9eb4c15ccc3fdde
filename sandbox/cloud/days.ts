const DAY_MS = 86_400_000;

// Each row of a report needs the same few days.
const dayTexts = new Map<number, string>();
const dayStarts = new Map<string, number>();

export function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS);
}

/** The UTC day of a time in the format of the reports, for example 2026-11-22. */
export function dayOf(date: Date): string {
  const number = Math.floor(date.getTime() / DAY_MS);
  const day = dayTexts.get(number) ?? date.toISOString().slice(0, 10);
  dayTexts.set(number, day);
  return day;
}

export function startOf(day: string): Date {
  const start = dayStarts.get(day) ?? Date.parse(`${day}T00:00:00Z`);
  dayStarts.set(day, start);
  return new Date(start);
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
