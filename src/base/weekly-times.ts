// Times that repeat each week: when a digest is posted, and when a service stops and starts.

import type { Span } from './calendar.ts';
import { ownValue } from './text.ts';
import {
  addDays,
  DAY_MS,
  type Day,
  dayOf,
  daysBetween,
  HOUR_MS,
  instantAt,
  localDay,
  type TimeOfDay,
  weekdayOf,
} from './time.ts';

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

const CATCH_UP_MS = 6 * HOUR_MS;
const MOST_DAYS = 7;

/**
 * The slot that is due at an instant. `lastDay` is the local day of the last post; null if there was
 * none. A slot is due for six hours, once per local day. It reports the UTC days that ended since
 * the last post or, without one, since the last slot: Friday to Sunday on a Monday. A local time
 * that the clocks skip is the next valid minute; one that occurs twice is the first. Throws a
 * RangeError for an unknown time zone. Source: docs/costs.md#digest-schedule.
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
  const days = slotDays(schedule, addDays(today, -MOST_DAYS), today);
  return days.findLast((day) => instantOn(schedule, day) <= now) ?? null;
}

/** The next scheduled time after `now`; null if there is none. */
export function nextSlot(schedule: Schedule, now: Date): Date | null {
  const today = localDay(now, schedule.timezone);
  const days = slotDays(schedule, today, addDays(today, MOST_DAYS + 1)).values();
  return days.map((day) => instantOn(schedule, day)).find((at) => at > now) ?? null;
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
  const wanted: readonly (Weekday | undefined)[] = days;
  return daysBetween(first, last).filter((day) => wanted.includes(WEEKDAYS[weekdayOf(day)]));
}

function instantOn({ at, timezone }: Schedule, day: Day): Date {
  return instantAt(day, at, timezone);
}

/** The last UTC day that ended before that instant. */
function reportDay(at: Date): Day {
  return addDays(dayOf(at), -1);
}

/** A time on some days of the week, for example 20:00 from Monday to Friday. */
export interface WeeklyTime {
  readonly days: readonly Weekday[];
  readonly at: TimeOfDay;
}

/** When a service stops and starts, in one time zone. One of the two lists may be empty. */
export interface WeeklyPlan {
  readonly stop: readonly WeeklyTime[];
  readonly start: readonly WeeklyTime[];
  readonly timezone: string;
}

/** One planned start or stop. */
export interface Occurrence {
  readonly action: 'start' | 'stop';
  readonly at: Date;
}

const NAMED_DAYS: Readonly<Record<string, readonly Weekday[]>> = {
  daily: WEEKDAYS,
  weekdays: WEEKDAYS.slice(0, 5),
  weekends: WEEKDAYS.slice(5),
};
const TIME = /^([01]?\d|2[0-3]):([0-5]\d)$/;
const MOST_TIMES = 7;

/**
 * Reads `weekdays 20:00`, `sat, sun 18:30` or `mon-thu 20:00, fri 18:00`: days, each list of them
 * followed by a time. Null for any other text.
 */
export function readWeeklyTimes(text: string): readonly WeeklyTime[] | null {
  const words = text.toLowerCase().match(/[^\s,;]+/g) ?? [];
  const times: WeeklyTime[] = [];
  let days: Weekday[] = [];
  for (const word of words) {
    const [, hours, minutes] = TIME.exec(word) ?? [];
    const named = hours === undefined ? daysOf(word) : [];
    if (named === null) return null;
    days.push(...named);
    if (hours === undefined) continue;
    if (days.length === 0) return null;
    const all = days;
    const at = `${hours.padStart(2, '0')}:${minutes}`;
    times.push({ days: WEEKDAYS.filter((day) => all.includes(day)), at });
    days = [];
  }
  const isComplete = days.length === 0 && times.length > 0 && times.length <= MOST_TIMES;
  return isComplete ? times : null;
}

const EVERY_DAY: Readonly<Record<string, string>> = {
  'every day': 'daily',
  everyday: 'daily',
  'every night': 'daily',
  nightly: 'daily',
  'every weekday': 'weekdays',
  workdays: 'weekdays',
  werktags: 'weekdays',
  weekday: 'weekdays',
  weekend: 'weekends',
};

/** `mon-fri`, `every day`, `mondays` → the word for these days; null for any other words. */
export function weeklyDaysText(typed: string): string | null {
  const text = typed
    .toLowerCase()
    .replace(/^(on|every|each) (?!day|night|weekday)/, '')
    .trim();
  const words = (ownValue(EVERY_DAY, text) ?? text)
    .split(/[\s,]+|\band\b/)
    .filter((word) => word !== '');
  const days = words.map((word) => daysOf(word) ?? daysOf(word.replace(/s$/, '')));
  if (words.length === 0 || days.includes(null)) return null;
  const all = days.flatMap((each) => each ?? []);
  return daysText(WEEKDAYS.filter((day) => all.includes(day)));
}

interface WeeklyTexts {
  readonly stop: string | null;
  readonly start: string | null;
  readonly zone: string;
}

/** The plan with these texts; one that cannot be read counts as never. */
export function readWeeklyPlan({ stop, start, zone }: WeeklyTexts): WeeklyPlan {
  const times = (text: string | null) => (text === null ? [] : (readWeeklyTimes(text) ?? []));
  return { stop: times(stop), start: times(start), timezone: zone };
}

/** `weekdays`, `sat`, `monday` or `mon-fri` → the days; null for any other word. */
function daysOf(word: string): readonly Weekday[] | null {
  const named = ownValue(NAMED_DAYS, word);
  if (named) return named;
  const [from, until, ...more] = word.split('-').map(dayOfName);
  if (more.length > 0 || from === undefined || from < 0) return null;
  if (until === undefined) return WEEKDAYS.slice(from, from + 1);
  if (until < 0) return null;
  // `fri-mon` goes over the end of the week.
  const count = ((until - from + WEEKDAYS.length) % WEEKDAYS.length) + 1;
  return [...WEEKDAYS, ...WEEKDAYS].slice(from, from + count);
}

const FULL_NAMES = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
/** The words for days that people type. */
export const DAY_WORDS = [...WEEKDAYS, ...FULL_NAMES, ...Object.keys(NAMED_DAYS)];

/** 0 for `mon` or `monday`; -1 for any other word. */
export function dayOfName(name: string): number {
  return WEEKDAYS.findIndex((day, index) => name === day || name === FULL_NAMES[index]);
}

/** The times in the form in which Signalbox stores and shows them: `weekdays 20:00, sat 18:00`. */
export function weeklyTimesText(times: readonly WeeklyTime[]): string {
  return times.map(({ days, at }) => `${daysText(days)} ${at}`).join(', ');
}

function daysText(days: readonly Weekday[]): string {
  const named = Object.entries(NAMED_DAYS).find(([, all]) => all.join() === days.join());
  return named?.[0] ?? days.join(' ');
}

/**
 * The first occurrence after an instant; null if nothing is planned. A local time that the clocks
 * skip is the next valid minute; one that occurs twice is the first. Throws a RangeError for an
 * unknown time zone. Source: docs/commands.md#schedules.
 */
export function nextOccurrence({ timezone, ...plan }: WeeklyPlan, after: Date): Occurrence | null {
  // A skipped stop can fall on the minute of a start, which then counts: the service ends up running.
  const all = (['start', 'stop'] as const).flatMap((action) =>
    plan[action].flatMap((time) => {
      const at = nextSlot({ ...time, timezone }, after);
      return at ? [{ action, at }] : [];
    }),
  );
  return all.toSorted((a, b) => a.at.getTime() - b.at.getTime())[0] ?? null;
}

/** The occurrences after one instant, up to another one and including it. */
export function occurrencesBetween(
  plan: WeeklyPlan,
  after: Date,
  until: Date,
): readonly Occurrence[] {
  const found: Occurrence[] = [];
  let next = nextOccurrence(plan, after);
  while (next && next.at <= until) {
    found.push(next);
    next = nextOccurrence(plan, next.at);
  }
  return found;
}

const WEEK_MS = 7 * DAY_MS;

/** The hours of the week after the first stop or start in which a service is stopped. */
export function stoppedHours(plan: WeeklyPlan, after: Date): number {
  const first = nextOccurrence(plan, after);
  if (!first) return 0;
  const end = new Date(first.at.getTime() + WEEK_MS);
  const all = [first, ...occurrencesBetween(plan, first.at, new Date(end.getTime() - 1))];
  const stopped = all.map(({ action, at }, index) => {
    const until = all[index + 1]?.at ?? end;
    return action === 'stop' ? until.getTime() - at.getTime() : 0;
  });
  return stopped.reduce((sum, ms) => sum + ms, 0) / HOUR_MS;
}

/** A day and time at which a service would both stop and start; null if there is none. */
export function contradiction({ stop, start }: Omit<WeeklyPlan, 'timezone'>): string | null {
  const starts = new Set(start.flatMap(slotsOf));
  return stop.flatMap(slotsOf).find((slot) => starts.has(slot)) ?? null;
}

function slotsOf({ days, at }: WeeklyTime): readonly string[] {
  return days.map((day) => `${day} ${at}`);
}
