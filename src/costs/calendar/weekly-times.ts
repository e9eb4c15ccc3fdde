import type { TimeOfDay } from './local-time.ts';
import { nextSlot, WEEKDAYS, type Weekday } from './schedule.ts';

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
  const words = text
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter(Boolean);
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
  const named = Object.hasOwn(NAMED_DAYS, word) ? NAMED_DAYS[word] : undefined;
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

function dayOfName(name: string): number {
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

const WEEK_MS = 7 * 86_400_000;
const HOUR_MS = 3_600_000;

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
