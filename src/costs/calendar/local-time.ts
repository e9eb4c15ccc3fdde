import { tzOffset } from '@date-fns/tz';
import { type Day, dayNumber } from './day.ts';

/** A time of day, `09:30`. */
export type TimeOfDay = string;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The day that the calendar on the wall of a time zone shows; throws for a zone that is none. */
export function localDay(instant: Date, timezone: string): Day {
  return new Date(instant.getTime() + offsetMs(timezone, instant.getTime()))
    .toISOString()
    .slice(0, 10);
}

/** What the clock on the wall shows, to the minute. */
export function localTime(instant: Date, timezone: string): TimeOfDay {
  return new Date(instant.getTime() + offsetMs(timezone, instant.getTime()))
    .toISOString()
    .slice(11, 16);
}

/**
 * The instant at which the clocks of a zone show a time on a day. A time that they skip is the
 * first minute after the gap; one that they show twice is the earlier one. Throws for a zone that is
 * none. Source: docs/digests.md#schedule.
 */
export function instantAt(day: Day, at: TimeOfDay, timezone: string): Date {
  const [first] = instantsOf(day, at, timezone);
  if (first) return first;
  const [early = 0, late = 0] = guesses(day, at, timezone).map(({ time }) => time);
  return new Date(endOfGap(early, late, timezone));
}

/** Every instant at which the clocks show it: none where they skip it, two where they repeat it. */
export function instantsOf(day: Day, at: TimeOfDay, timezone: string): readonly Date[] {
  const fits = guesses(day, at, timezone).filter(
    ({ time, wall }) => time + offsetMs(timezone, time) === wall,
  );
  return [...new Set(fits.map(({ time }) => time))].map((time) => new Date(time));
}

// By the offset of a day before and of a day after: the clocks are not put twice within two days.
function guesses(day: Day, at: TimeOfDay, timezone: string) {
  const [hours, minutes] = at.split(':').map(Number);
  const wall = dayNumber(day) * DAY_MS + ((hours ?? 0) * 60 + (minutes ?? 0)) * MINUTE_MS;
  return [wall - DAY_MS, wall + DAY_MS]
    .map((near) => ({ wall, time: wall - offsetMs(timezone, near) }))
    .sort((a, b) => a.time - b.time);
}

/** The minute, after the one instant and not after the other, at which the clocks are put on. */
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
  if (Number.isNaN(minutes)) throw new RangeError(`${timezone} is no time zone`);
  return minutes * MINUTE_MS;
}
