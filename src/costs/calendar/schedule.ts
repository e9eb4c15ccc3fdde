import type { Span } from './calendar.ts';
import { addDays, type Day, dayOf, daysBetween, weekdayOf } from './day.ts';
import { instantAt, localDay, localTime, type TimeOfDay } from './local-time.ts';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** When a digest is posted, in the time zone of its channel. */
export interface Schedule {
  readonly at: TimeOfDay;
  readonly timezone: string;
  readonly days: readonly Weekday[];
}

/** One post of the schedule. */
export interface Slot {
  /** The day in the channel's zone. A digest is posted at most once for each of these days. */
  readonly localDay: Day;
  readonly at: Date;
  /** The reported UTC days: all that ended since the last post, at most seven. */
  readonly covers: Span;
}

export type DueSlot =
  /** The post is due now; `covers.last` is the report day. */
  | { readonly state: 'due'; readonly slot: Slot }
  /** At least six hours late: it is not posted, and the next post covers its days too. */
  | { readonly state: 'missed'; readonly slot: Slot; readonly next: Date | null }
  | { readonly state: 'waiting'; readonly next: Date | null };

const HOUR_MS = 3_600_000;
const CATCH_UP_MS = 6 * HOUR_MS;
const SETTLING_MS = 6 * HOUR_MS;
const MOST_DAYS = 7;

/**
 * The slot that is due at an instant. `lastDay` is the local day of the last post; null if there was
 * none. A slot is due for six hours, once per local day. It reports the UTC days that ended since
 * the last post or, without one, since the last slot: Friday to Sunday on a Monday. A local time
 * that the clocks skip is the next valid minute; one that occurs twice is the first. Throws a
 * RangeError for an unknown time zone. Source: docs/digests.md#schedule.
 */
export function findDueSlot(schedule: Schedule, now: Date, lastDay: Day | null): DueSlot {
  const latest = latestSlotDay(schedule, now);
  const isNew = latest !== null && (lastDay === null || latest > lastDay);
  const slot = isNew ? slotOn(schedule, latest, lastDay) : null;
  if (slot !== null && now.getTime() - slot.at.getTime() < CATCH_UP_MS) {
    return { state: 'due', slot };
  }
  const next = nextSlot(schedule, now);
  return slot === null ? { state: 'waiting', next } : { state: 'missed', slot, next };
}

/** Each weekday occurs in the eight days that end today. */
function latestSlotDay(schedule: Schedule, now: Date): Day | null {
  const today = localDay(now, schedule.timezone);
  return (
    slotDays(schedule, addDays(today, -MOST_DAYS), today).findLast(
      (day) => instantOn(schedule, day) <= now,
    ) ?? null
  );
}

/** The next scheduled time after `now`; null if there is none. */
export function nextSlot(schedule: Schedule, now: Date): Date | null {
  const today = localDay(now, schedule.timezone);
  for (const day of slotDays(schedule, today, addDays(today, MOST_DAYS + 1))) {
    const at = instantOn(schedule, day);
    if (at > now) return at;
  }
  return null;
}

function slotOn(schedule: Schedule, day: Day, lastDay: Day | null): Slot {
  const at = instantOn(schedule, day);
  const last = reportDay(at);
  const previous = lastDay ?? slotDays(schedule, addDays(day, -MOST_DAYS), addDays(day, -1)).at(-1);
  const since =
    previous === undefined ? last : addDays(reportDay(instantOn(schedule, previous)), 1);
  const earliest = addDays(last, 1 - MOST_DAYS);
  const first = since > last ? last : since < earliest ? earliest : since;
  return { localDay: day, at, covers: { first, last } };
}

function slotDays({ days }: Schedule, first: Day, last: Day): readonly Day[] {
  return daysBetween(first, last).filter((day) => {
    const weekday = WEEKDAYS[weekdayOf(day)];
    return weekday !== undefined && days.includes(weekday);
  });
}

function instantOn({ at, timezone }: Schedule, day: Day): Date {
  return instantAt(day, at, timezone);
}

/** The last UTC day that ended before that instant. */
function reportDay(at: Date): Day {
  return addDays(dayOf(at), -1);
}

/** A time so soon after the end of the UTC day that few of its figures are in the report. */
interface EarlyTime {
  /** The minutes since the end of the reported day; the smaller value of summer and winter. */
  readonly minutesAfterDay: number;
  /** From this local time on, it is at least six hours in summer and in winter. */
  readonly better: TimeOfDay;
}

/** Null if the time is at least six hours after the end of the UTC day. Source: docs/digests.md#schedule. */
export function findEarlyTime(schedule: Schedule, now: Date): EarlyTime | null {
  const seasons = [0, 182].map((days) => addDays(localDay(now, schedule.timezone), days));
  const minutes = seasons.map((day) => minutesAfterUtcMidnight(instantOn(schedule, day)));
  const minutesAfterDay = Math.min(...minutes);
  if (minutesAfterDay * 60_000 >= SETTLING_MS) return null;
  const times = seasons.map((day) => localTime(new Date(`${day}T06:00:00Z`), schedule.timezone));
  return { minutesAfterDay, better: times.reduce((one, other) => (one > other ? one : other)) };
}

function minutesAfterUtcMidnight(at: Date): number {
  return at.getUTCHours() * 60 + at.getUTCMinutes();
}
