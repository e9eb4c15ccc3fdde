import { addDays } from '../../costs/calendar/day.ts';
import { instantAt, instantsOf, localDay } from '../../costs/calendar/local-time.ts';
import type { FieldProblem } from '../../errors.ts';
import {
  type ClockTime,
  LATEST_START_MS,
  type RequestedTiming,
} from '../../intent/arguments/timing.ts';

export type Start =
  | { readonly ok: true; readonly at: Date | null; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** Where and when whoever asks looks at a clock; null where nobody could say whose it is. */
export interface Wall {
  readonly zone: string | null;
  readonly now: Date;
  /** How far ahead it may lie; a month where this is missing. */
  readonly latestMs?: number;
}

/** When a change is to begin, and what is to be said of that hour; null: as soon as it may. */
export function startTimeOf({ at, inMs }: RequestedTiming, wall: Wall): Start {
  if (inMs !== null) return begin(new Date(wall.now.getTime() + inMs));
  if (at === null) return begin(null);
  if (at.day !== null && at.offset !== null) return inTime(exactly(at.day, at), wall);
  const { zone } = wall;
  if (zone === null) return problem(NO_ZONE);
  return at.day === null ? next(at, zone, wall) : on(at.day, at, zone, wall);
}

const DAY_MS = 86_400_000;

const NO_ZONE =
  'needs its date and zone: Slack did not tell your time zone (such as YYYY-MM-DDT20:00+01:00)';

function begin(at: Date | null, ...warnings: readonly string[]): Start {
  return { ok: true, at, warnings };
}

function problem(text: string): Start {
  return { ok: false, problems: [{ field: 'at', problem: text }] };
}

function exactly(day: string, { time, offset }: ClockTime): Date {
  return new Date(`${day}T${time}${offset ?? 'Z'}`);
}

function inTime(
  at: Date,
  { now, latestMs = LATEST_START_MS }: Wall,
  ...warnings: readonly string[]
): Start {
  const ahead = at.getTime() - now.getTime();
  if (ahead <= 0) return problem('is over already (a time such as 20:00 is the next one)');
  if (ahead > latestMs) return problem(`must be within ${latestMs / DAY_MS} days`);
  return begin(at, ...warnings);
}

function on(day: string, { time }: ClockTime, zone: string, wall: Wall): Start {
  const [first, second] = instantsOf(day, time, zone);
  if (!first) return inTime(instantAt(day, time, zone), wall, skipped(day, time, zone));
  return second && first > wall.now
    ? inTime(first, wall, repeated(day, time, zone))
    : inTime(second ?? first, wall);
}

/** Today or tomorrow, and again today where the clocks show it a second time. */
function next(at: ClockTime, zone: string, wall: Wall): Start {
  const today = localDay(wall.now, zone);
  const later = [today, addDays(today, 1)].map((day) => on(day, at, zone, wall));
  return later.find((start) => start.ok) ?? later[0] ?? begin(null);
}

function skipped(day: string, time: string, zone: string): string {
  return `The clocks in ${zone} skip ${time} on ${day}: it runs when they have been put on.`;
}

function repeated(day: string, time: string, zone: string): string {
  return `The clocks in ${zone} show ${time} twice on ${day}: it runs at the first. For the second, write the date with its zone.`;
}
