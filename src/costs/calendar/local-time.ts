import { tzOffset } from '@date-fns/tz';
import { type Day, dayNumber } from './day.ts';

/** A time of day, `09:30`. */
export type TimeOfDay = string;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The local day in a time zone. Throws a RangeError for an unknown time zone. */
export function localDay(instant: Date, timezone: string): Day {
  return localText(instant, timezone).slice(0, 10);
}

/** The local time in a time zone, to the minute. */
export function localTime(instant: Date, timezone: string): TimeOfDay {
  return localText(instant, timezone).slice(11, 16);
}

function localText(instant: Date, timezone: string): string {
  const time = instant.getTime();
  return new Date(time + offsetMs(timezone, time)).toISOString();
}

/**
 * The instant of a local time on a day. A time that the clocks skip is the first minute after the
 * gap, for which date-fns has no function; a time that occurs twice is the earlier one. Throws a
 * RangeError for an unknown time zone. Source: docs/digests.md#schedule.
 */
export function instantAt(day: Day, at: TimeOfDay, timezone: string): Date {
  const [first] = instantsOf(day, at, timezone);
  if (first) return first;
  const [early = 0, late = 0] = guesses(day, at, timezone).map(({ time }) => time);
  return new Date(endOfGap(early, late, timezone));
}

/** Every instant of a local time: none if the clocks skip it, two if it occurs twice. */
export function instantsOf(day: Day, at: TimeOfDay, timezone: string): readonly Date[] {
  const fits = guesses(day, at, timezone).filter(
    ({ time, wall }) => time + offsetMs(timezone, time) === wall,
  );
  return [...new Set(fits.map(({ time }) => time))].map((time) => new Date(time));
}

// With the offsets one day before and one day after: no zone changes its offset twice in two days.
function guesses(day: Day, at: TimeOfDay, timezone: string) {
  const [hours, minutes] = at.split(':').map(Number);
  const wall = dayNumber(day) * DAY_MS + ((hours ?? 0) * 60 + (minutes ?? 0)) * MINUTE_MS;
  return [wall - DAY_MS, wall + DAY_MS]
    .map((near) => ({ wall, time: wall - offsetMs(timezone, near) }))
    .sort((a, b) => a.time - b.time);
}

/** The minute after `from`, and not after `until`, at which the clocks are put forward. */
function endOfGap(from: number, until: number, timezone: string): number {
  const target = offsetMs(timezone, until);
  let [low, high] = [from / MINUTE_MS, until / MINUTE_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(timezone, middle * MINUTE_MS) === target) high = middle;
    else low = middle;
  }
  return high * MINUTE_MS;
}

function offsetMs(timezone: string, time: number): number {
  const minutes = tzOffset(timezone, new Date(time));
  if (Number.isNaN(minutes)) throw new RangeError(`${timezone} is not a time zone`);
  return minutes * MINUTE_MS;
}
