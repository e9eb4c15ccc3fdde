// UTC days, local times in a time zone, the clock of the clients, and the lengths of units of time.

import { setTimeout as delay } from 'node:timers/promises';
import { cached } from './cache.ts';

/**
 * A UTC day of the usage report, as `2026-11-19`. Days are compared as text and counted as whole
 * numbers, so that no time zone can shift them. The arithmetic is our own because statistics add
 * days many thousand times: 0.1 µs here, 17 µs with date-fns in UTC.
 */
export type Day = string;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** `30m`, `4h`, `2d` → milliseconds; NaN for anything else. */
export function spanMs(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return Number(count) * ({ m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }[unit] ?? Number.NaN);
}

/** The UTC day of an instant. */
export function dayOf(instant: Date): Day {
  return instant.toISOString().slice(0, 10);
}

/** More than the days of ten years. Those of all reports are the same few hundred. */
const MOST_CACHED = 4_096;

/** The number of the day since 1970-01-01; NaN for a text that is no day. */
export const dayNumber = cached(MOST_CACHED, (day: Day): number => {
  return Date.parse(`${day}T00:00:00Z`) / DAY_MS;
});
const dayFrom = cached(MOST_CACHED, (number: number): Day => dayOf(new Date(number * DAY_MS)));

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

/** A time of day, `09:30`. */
export type TimeOfDay = string;

/** Whether the functions below know this name. The abbreviations that `Intl` knows as well have no local times. */
export function isTimeZone(name: string): boolean {
  // A fixed offset from UTC is valid, but it is no name.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return localDay(new Date(0), name) !== '';
  } catch {
    return false;
  }
}

/** The local day in a time zone. Throws a RangeError for an unknown time zone. */
export function localDay(instant: Date, timezone: string): Day {
  const exact = Temporal.Instant.fromEpochMilliseconds(instant.getTime());
  return exact.toZonedDateTimeISO(timezone).toPlainDate().toString();
}

/**
 * The instant of a local time on a day. A time that the clocks skip is the first minute after the
 * gap; a time that occurs twice is the earlier one. Throws a RangeError for an unknown time zone.
 * Source: docs/costs.md#digest-schedule.
 */
export function instantAt(day: Day, at: TimeOfDay, timezone: string): Date {
  const [first] = instantsOf(day, at, timezone);
  const early = () => wallClock(day, at).toZonedDateTime(timezone, { disambiguation: 'earlier' });
  return first ?? new Date(early().getTimeZoneTransition('next')?.epochMilliseconds ?? Number.NaN);
}

/** Every instant of a local time: none if the clocks skip it, two if it occurs twice. */
export function instantsOf(day: Day, at: TimeOfDay, timezone: string): readonly Date[] {
  const wall = wallClock(day, at);
  const fits = (['earlier', 'later'] as const)
    .map((disambiguation) => wall.toZonedDateTime(timezone, { disambiguation }))
    .filter((zoned) => zoned.toPlainDateTime().equals(wall));
  return [...new Set(fits.map((zoned) => zoned.epochMilliseconds))].map((time) => new Date(time));
}

function wallClock(day: Day, at: TimeOfDay): Temporal.PlainDateTime {
  return Temporal.PlainDateTime.from(`${day}T${at}`);
}

/** The time and randomness that the clients use; tests pass their own. */
export type Clock = typeof systemClock;

export const systemClock = {
  /** Monotonic milliseconds with an arbitrary origin. */
  now: (): number => performance.now(),
  /** Resolves early when the signal aborts. */
  sleep: (ms: number, signal?: AbortSignal): Promise<unknown> =>
    delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    }),
  /** A signal that aborts after `ms` milliseconds. */
  timeout: (ms: number): AbortSignal => AbortSignal.timeout(Math.max(0, Math.ceil(ms))),
  /** Calls `run` after `ms` milliseconds, unless the returned function is called before. */
  after: (ms: number, run: () => void): (() => void) => {
    const timer = setTimeout(run, Math.ceil(ms)).unref();
    return () => clearTimeout(timer);
  },
  /** From 0 (inclusive) to 1 (exclusive). */
  random: (): number => Math.random(),
};

const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MAX_MS = 30_000;

/** The wait after this number of failures in a row: doubled from 1 s to 30 s, less up to a half. */
export function backoffMs(failures: number, { random }: Pick<Clock, 'random'>): number {
  const fullMs = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (failures - 1));
  return fullMs * (0.5 + random() / 2);
}
