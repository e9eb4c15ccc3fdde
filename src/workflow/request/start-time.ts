import type { FieldProblem } from '../../base/errors.ts';
import { addDays, instantAt, instantsOf, localDay } from '../../base/time.ts';
import type { Plan } from '../../changes/change.ts';
import {
  type ClockTime,
  LATEST_START_MS,
  type RequestedTiming,
} from '../../intent/arguments/timing.ts';

type StartTime =
  | { readonly ok: true; readonly at: Date | null; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** The user's clock. */
interface StartClock {
  /** An IANA name; null where Slack did not answer. */
  readonly zone: string | null;
  readonly now: Date;
  /** The latest start, from now. Missing: 30 days. */
  readonly latestMs?: number;
}

/** Returns when a change starts, with warnings; `at` null: once it is approved. */
export function startTimeOf({ at, inMs }: RequestedTiming, clock: StartClock): StartTime {
  if (inMs !== null) return begin(new Date(clock.now.getTime() + inMs));
  if (at === null) return begin(null);
  if (at.day !== null && at.offset !== null) return inTime(exactly(at.day, at), clock);
  const { zone } = clock;
  if (zone === null) return problem(NO_ZONE);
  return at.day === null ? next(at, zone, clock) : on(at.day, at, zone, clock);
}

/** When a change is expected to run. Freezes are checked for that time, not for the current one. */
export function startsAt({ timing }: Plan, now: Date): Date {
  return timing?.startAt ? new Date(timing.startAt) : now;
}

const DAY_MS = 86_400_000;

const NO_ZONE =
  'needs a date and an offset, for example 2026-11-22T20:00+01:00: Slack did not return your time zone';

function begin(at: Date | null, ...warnings: readonly string[]): StartTime {
  return { ok: true, at, warnings };
}

function problem(text: string): StartTime {
  return { ok: false, problems: [{ field: 'at', problem: text }] };
}

function exactly(day: string, { time, offset }: ClockTime): Date {
  return new Date(`${day}T${time}${offset ?? 'Z'}`);
}

function inTime(
  at: Date,
  { now, latestMs = LATEST_START_MS }: StartClock,
  ...warnings: readonly string[]
): StartTime {
  const ahead = at.getTime() - now.getTime();
  if (ahead <= 0) return problem('is in the past; 20:00 without a date means the next 20:00');
  if (ahead > latestMs) return problem(`must be within ${latestMs / DAY_MS} days`);
  return begin(at, ...warnings);
}

function on(day: string, { time }: ClockTime, zone: string, clock: StartClock): StartTime {
  const [first, second] = instantsOf(day, time, zone);
  if (!first) return inTime(instantAt(day, time, zone), clock, skipped(day, time, zone));
  return second && first > clock.now
    ? inTime(first, clock, repeated(day, time, zone))
    : inTime(second ?? first, clock);
}

/** The next time with this clock reading: today, also if it occurs twice, or tomorrow. */
function next(at: ClockTime, zone: string, clock: StartClock): StartTime {
  const today = localDay(clock.now, zone);
  const later = [today, addDays(today, 1)].map((day) => on(day, at, zone, clock));
  return later.find((start) => start.ok) ?? later[0] ?? begin(null);
}

function skipped(day: string, time: string, zone: string): string {
  return `Clocks in ${zone} skip ${time} on ${day}. The change runs right after the skipped hour.`;
}

function repeated(day: string, time: string, zone: string): string {
  return `Clocks in ${zone} show ${time} twice on ${day}. The change runs at the first. For the second, enter the date with its offset.`;
}
