const DAY_MS = 86_400_000;

// Each row of a report needs the same few days.
const dayTexts = new Map<number, string>();
const dayNumbers = new Map<string, number>();

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

/** The number of a UTC day, counted from 1970. */
export function dayNumber(day: string): number {
  const number = dayNumbers.get(day) ?? Date.parse(`${day}T00:00:00Z`) / DAY_MS;
  dayNumbers.set(day, number);
  return number;
}

/** The time at which a UTC day begins, in milliseconds. */
export function startOf(day: string): number {
  return dayNumber(day) * DAY_MS;
}

export function daysBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / DAY_MS;
}

/** The UTC days from the first to the last day, both included. */
export function daysOf(from: string, to: string): readonly string[] {
  const first = dayNumber(from);
  const count = dayNumber(to) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    dayOf(new Date((first + index) * DAY_MS)),
  );
}

/** The share of the day, from 0 to 1, between the two times. `until` null: the end of the day. */
export function shareOfDay(day: string, from: Date, until: Date | null): number {
  const start = startOf(day);
  const begin = Math.max(start, from.getTime());
  const end = Math.min(start + DAY_MS, until?.getTime() ?? Number.POSITIVE_INFINITY);
  return Math.max(0, end - begin) / DAY_MS;
}
