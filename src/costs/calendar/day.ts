import { cached } from '../../cache.ts';

/**
 * A UTC day of the usage report, as `2026-11-19`. Days are compared as text and counted as whole
 * numbers, so that no time zone can shift them. The arithmetic is our own because statistics add
 * days many thousand times: 0.1 µs here, 17 µs with date-fns in UTC.
 */
export type Day = string;

const DAY_MS = 86_400_000;

export function dayOf(instant: Date): Day {
  return instant.toISOString().slice(0, 10);
}

/** More than the days of ten years. Those of all reports are the same few hundred. */
const MOST_CACHED = 4_096;

const numbers = cached(MOST_CACHED, (day: Day) => Date.parse(`${day}T00:00:00Z`) / DAY_MS);
const days = cached(MOST_CACHED, (number: number): Day => dayOf(new Date(number * DAY_MS)));

export function dayNumber(day: Day): number {
  return numbers(day);
}

function dayFrom(number: number): Day {
  return days(number);
}

export function addDays(day: Day, count: number): Day {
  return dayFrom(dayNumber(day) + count);
}

/** Returns 0 for Monday to 6 for Sunday. */
export function weekdayOf(day: Day): number {
  return (dayNumber(day) + 3) % 7;
}

/** Both ends included; empty if the last day is before the first. */
export function daysBetween(first: Day, last: Day): readonly Day[] {
  const start = dayNumber(first);
  const count = dayNumber(last) - start + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => dayFrom(start + index));
}
