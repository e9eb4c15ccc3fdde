import { TZDate } from '@date-fns/tz';
import type { ClockMove } from '../protocol.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MORNING_HOUR = 9;

/** The time zone of the people in the sandbox, unless a member has another one. */
export const SANDBOX_ZONE = 'Europe/Berlin';

/** The time to which a move leads. Morning is 09:00 in the time zone of the sandbox. */
export function targetOf(move: ClockMove, now: Date): Date {
  if (move === 'next-morning') return nextMorning(now);
  const by = { '5-minutes': 5 * MINUTE_MS, '1-hour': HOUR_MS, '1-day': DAY_MS }[move];
  return new Date(now.getTime() + by);
}

/** The last 09:00 that is not after `now`. */
export function lastMorning(now: Date): Date {
  const today = morningOf(now, 0);
  return today > now ? morningOf(now, -1) : today;
}

function nextMorning(now: Date): Date {
  const today = morningOf(now, 0);
  return today > now ? today : morningOf(now, 1);
}

function morningOf(now: Date, daysLater: number): Date {
  const local = new TZDate(now, SANDBOX_ZONE);
  const [year, month, day] = [local.getFullYear(), local.getMonth(), local.getDate() + daysLater];
  return new Date(new TZDate(year, month, day, MORNING_HOUR, 0, SANDBOX_ZONE).getTime());
}

/** The longest span that is moved in steps of this size. */
const STEPS = [
  { upToMs: 10 * MINUTE_MS, everyMs: MINUTE_MS },
  { upToMs: 2 * HOUR_MS, everyMs: 5 * MINUTE_MS },
  { upToMs: Number.POSITIVE_INFINITY, everyMs: 30 * MINUTE_MS },
] as const;

/**
 * The times at which the clock stops on its way, the end included. They are round, so that work
 * that is scheduled for 09:00 runs at 09:00, and a reminder comes before what it reminds of.
 */
export function clockSteps(from: Date, to: Date): readonly Date[] {
  const spanMs = to.getTime() - from.getTime();
  if (spanMs <= 0) return [];
  const everyMs = STEPS.find(({ upToMs }) => spanMs <= upToMs)?.everyMs ?? spanMs;
  const first = (Math.floor(from.getTime() / everyMs) + 1) * everyMs;
  const count = Math.max(0, Math.ceil((to.getTime() - first) / everyMs));
  return [...Array.from({ length: count }, (_, at) => new Date(first + at * everyMs)), to];
}
