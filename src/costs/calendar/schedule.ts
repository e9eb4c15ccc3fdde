import type { Span } from './calendar.ts';
import { addDays, type Day, dayOf, daysBetween, weekdayOf } from './day.ts';
import { instantAt, localDay, localTime, type TimeOfDay } from './local-time.ts';

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** When a digest is posted, by the clocks of its channel. */
export interface Schedule {
  readonly at: TimeOfDay;
  readonly timezone: string;
  /** None: never by the day of the week. */
  readonly days: readonly Weekday[];
}

/** One posting that the schedule asks for. */
export interface Slot {
  /** The day in the channel's zone: with the digest it is the key that is posted once only. */
  readonly localDay: Day;
  readonly at: Date;
  /** The UTC days it reports: all that ended since the last posting, seven at most. */
  readonly covers: Span;
}

export type DigestDue =
  /** To be posted now; `covers.last` is the report day. */
  | { readonly state: 'due'; readonly slot: Slot }
  /** Six hours late or more: not posted any more; the next one covers its days too. */
  | { readonly state: 'missed'; readonly slot: Slot; readonly next: Date | null }
  | { readonly state: 'waiting'; readonly next: Date | null };

const HOUR_MS = 3_600_000;
const CATCH_UP_MS = 6 * HOUR_MS;
const SETTLING_MS = 6 * HOUR_MS;
const MOST_DAYS = 7;

/**
 * What a schedule asks for at an instant. `lastDay` is the local day of the last posting, null if
 * there was none; whoever adds a digest after today's time and does not want it at once gives
 * today. A slot is due from its time on for less than six hours, once per local day, and it reports
 * the UTC days that ended since the last posting (or, without one, the last slot): Friday to Sunday
 * on a Monday. A time that the clocks skip is the next valid minute, one that they repeat is the
 * first. Throws a RangeError for a zone that is none. Source: docs/digests.md#schedule.
 */
export function dueDigest(schedule: Schedule, now: Date, lastDay: Day | null): DigestDue {
  const latest = latestSlotDay(schedule, now);
  const isNew = latest !== null && (lastDay === null || latest > lastDay);
  const slot = isNew ? slotOn(schedule, latest, lastDay) : null;
  if (slot !== null && now.getTime() - slot.at.getTime() < CATCH_UP_MS) {
    return { state: 'due', slot };
  }
  const next = nextSlot(schedule, now);
  return slot === null ? { state: 'waiting', next } : { state: 'missed', slot, next };
}

/** A weekday comes around within a week, so that the eight until today have one of each. */
function latestSlotDay(schedule: Schedule, now: Date): Day | null {
  const today = localDay(now, schedule.timezone);
  return (
    slotDays(schedule, addDays(today, -MOST_DAYS), today).findLast(
      (day) => instantOn(schedule, day) <= now,
    ) ?? null
  );
}

/** The next time after `now` at which the schedule asks for a posting; null if it never does. */
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

/** The last UTC day that was over at that instant. */
function reportDay(at: Date): Day {
  return addDays(dayOf(at), -1);
}

/** A time that comes so soon after the end of the UTC day that its figures are hardly in. */
export interface TooEarly {
  /** How long the reported day is over by then, in the season in which it is the shorter. */
  readonly minutesAfterDay: number;
  /** From this local time on, in either season, it would be six hours. */
  readonly better: TimeOfDay;
}

/** Told at set-up and in a preview; null where the time leaves six hours. Source: docs/digests.md#schedule. */
export function tooEarly(schedule: Schedule, now: Date): TooEarly | null {
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
