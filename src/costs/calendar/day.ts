/**
 * Days of the cost report: UTC, written `2026-11-19`. They are compared as text and counted as
 * whole numbers, so that no time zone of any machine can shift them.
 */
export type Day = string;

const DAY_MS = 86_400_000;

export function dayOf(instant: Date): Day {
  return instant.toISOString().slice(0, 10);
}

export function dayNumber(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`) / DAY_MS;
}

export function dayFrom(number: number): Day {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}

export function addDays(day: Day, count: number): Day {
  return dayFrom(dayNumber(day) + count);
}

/** From Monday, 0, to Sunday, 6. */
export function weekdayOf(day: Day): number {
  return (dayNumber(day) + 3) % 7;
}

/** Both ends included; empty where the last lies before the first. */
export function daysBetween(first: Day, last: Day): readonly Day[] {
  const start = dayNumber(first);
  const count = dayNumber(last) - start + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => dayFrom(start + index));
}
