// When a change starts and when it is reverted: `at=`, `in=`, `for=` and `until=`, and the moments that they mean.

import { isValid } from 'date-fns/isValid';
import { parseISO } from 'date-fns/parseISO';
import { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import { addDays, DAY_MS, instantAt, instantsOf, localDay, spanMs } from '../base/time.ts';
import type { Plan } from './change.ts';

/** Whether a change can start later, and whether it can be reverted after a while. */
export type TimingSupport = 'start' | 'start and revert';

/** A clock time; the plan resolves it in the time zone of the requester. */
export interface ClockTime {
  /** `2026-11-22`; null: the next occurrence of `time`. */
  readonly day: string | null;
  readonly time: string;
  /** `Z` or `+01:00`; null: the time zone of the requester. */
  readonly offset: string | null;
}

/** When a change starts and how long it lasts, as the user entered it; all null: once approved. */
export interface RequestedTiming {
  readonly at: ClockTime | null;
  readonly inMs: number | null;
  readonly forMs: number | null;
  /** The moment of the revert, instead of a duration. */
  readonly until?: ClockTime | null;
}

export const NO_TIMING: RequestedTiming = { at: null, inMs: null, forMs: null };

const TIMING_KEYS = ['at', 'in', 'for', 'until'];

/** Whether the argument is a part of the timing of a change. */
export function isTimingKey(name: string): boolean {
  return TIMING_KEYS.includes(name);
}

const AS_MOMENT = 'must be a time, for example 20:00 or monday 8:00';
const MOMENT =
  /^(?:(\d{4}-\d{2}-\d{2})[t ])?(\d{1,2}):([0-5]\d)(?::00)?(?:(z|[+-]\d{2}:?[0-5]\d))?$/i;

/** `20:00`, with or without its date and its zone. */
export const ClockTimeText = z.string().transform((typed, context): ClockTime => {
  const [, day = null, hours = '', minutes = '', offset = null] = MOMENT.exec(typed.trim()) ?? [];
  const isTime = hours !== '' && Number(hours) < 24;
  if (isTime && (day === null ? offset === null : isValid(parseISO(day)))) {
    return { day, time: `${hours.padStart(2, '0')}:${minutes}`, offset: wholeOffset(offset) };
  }
  context.addIssue({ code: 'custom', message: AS_MOMENT });
  return z.NEVER;
});

function wholeOffset(offset: string | null): string | null {
  return offset?.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2') ?? null;
}

/** The schema of a duration within these limits: `4h` → milliseconds. */
export function spanSchema(least: string, most: string, example: string) {
  const [from, until] = [spanMs(least), spanMs(most)];
  const problem = `must be from ${least} to ${most} (for example ${example})`;
  return z.string().transform((typed, context): number => {
    const ms = spanMs(typed.trim().toLowerCase());
    if (ms >= from && ms <= until) return ms;
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  });
}

const [LEAST_REVERT, MOST_REVERT] = ['30m', '14d'] as const;
export const LEAST_REVERT_MS = spanMs(LEAST_REVERT);
/** How long a change may last before its revert runs. */
export const REVERT_SPAN = spanSchema(LEAST_REVERT, MOST_REVERT, '4h');

type Args = Readonly<Record<string, unknown>>;

/** Separates the arguments of a change from its timing. */
export function separateTiming(
  timed: TimingSupport | undefined,
  args: Args,
): { readonly own: Args; readonly timing: RequestedTiming } {
  if (timed === undefined) return { own: args, timing: NO_TIMING };
  const { at = null, in: inMs = null, for: forMs = null, until = null, ...own } = args;
  // ClockTimeText and spanSchema parsed the four values, so they have these types.
  const timing = { at, inMs, forMs, ...(until !== null && { until }) };
  return { own, timing: timing as RequestedTiming };
}

/** A change can have only one start time, and only one end. */
export function timingProblems(timing: RequestedTiming): readonly FieldProblem[] {
  const { at, inMs, forMs, until = null } = timing;
  const both = (other: string) => `cannot be combined with ${other}=; use only one of them`;
  return [
    ...(at !== null && inMs !== null ? [{ field: 'at', problem: both('in') }] : []),
    ...(forMs !== null && until !== null ? [{ field: 'until', problem: both('for') }] : []),
  ];
}

/** What the entered times mean, or what is wrong with them. */
export type Entered<T> =
  | ({ readonly ok: true } & Readonly<T>)
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

type StartTime = Entered<{ at: Date | null; warnings: readonly string[] }>;

/** The longest time that a change may wait for its start, if its command has no other limit. */
const LATEST_START_MS = 30 * DAY_MS;

/** The user's clock. */
export interface StartClock {
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

function begin(at: Date | null, ...warnings: readonly string[]): StartTime {
  return { ok: true, at, warnings };
}

type RevertTime = Entered<{ afterMs: number | null; until: string | null }>;

/** Returns when a change that starts at `start`, or once approved, is reverted; `afterMs` null: never. */
export function revertTimeOf(
  { forMs, until = null }: RequestedTiming,
  start: Date | null,
  clock: StartClock,
): RevertTime {
  if (until === null) return { ok: true, afterMs: forMs, until: null };
  const from = start ?? clock.now;
  const end = startTimeOf({ ...NO_TIMING, at: until }, { ...clock, now: from });
  if (!end.ok || end.at === null) {
    return problem('must be a time after the start of the change', 'until');
  }
  const afterMs = end.at.getTime() - from.getTime();
  if (afterMs < LEAST_REVERT_MS || afterMs > spanMs(MOST_REVERT)) {
    const range = `must be from ${LEAST_REVERT} to ${MOST_REVERT} after the start of the change`;
    return problem(range, 'until');
  }
  return { ok: true, afterMs, until: end.at.toISOString() };
}

const NO_ZONE =
  'needs a date and an offset, for example +01:00 after it: Slack did not return your time zone';

function problem(text: string, field: 'at' | 'until' = 'at') {
  return { ok: false, problems: [{ field, problem: text }] } as const;
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

/** The next time with this clock reading: today, also if it occurs twice, or tomorrow. */
function next(at: ClockTime, zone: string, clock: StartClock): StartTime {
  const today = localDay(clock.now, zone);
  const later = [today, addDays(today, 1)].map((day) => on(day, at, zone, clock));
  return later.find((start) => start.ok) ?? later[0] ?? begin(null);
}

function on(day: string, { time }: ClockTime, zone: string, clock: StartClock): StartTime {
  const [first, second] = instantsOf(day, time, zone);
  if (!first) return inTime(instantAt(day, time, zone), clock, skipped(day, time, zone));
  return second && first > clock.now
    ? inTime(first, clock, repeated(day, time, zone))
    : inTime(second ?? first, clock);
}

function skipped(day: string, time: string, zone: string): string {
  return `Clocks in ${zone} skip ${time} on ${day}. The change runs right after the skipped hour.`;
}

function repeated(day: string, time: string, zone: string): string {
  return `Clocks in ${zone} show ${time} twice on ${day}. The change runs at the first. For the second, enter the date with its offset.`;
}

/** When a change is expected to run. Freezes are checked for that time, not for the current one. */
export function startsAt({ timing }: Plan, now: Date): Date {
  return timing?.startAt ? new Date(timing.startAt) : now;
}
