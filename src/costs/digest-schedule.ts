/** When a digest is due, what days it covers and whether it waits for more figures. */
import { previousMonth, type Span, startOf, within } from '../base/calendar.ts';
import { addDays, type Day, dayOf, HOUR_MS, localDay, localTime } from '../base/time.ts';
import {
  type DueSlot,
  findDueSlot,
  findEarlyTime,
  nextSlot,
  type Schedule,
  type Slot,
} from '../base/weekly-times.ts';
import { type DayState, type LockAge, lastSettledDay, longestWait } from '../maths/days.ts';
import { DAYS } from './config.ts';
import type { DigestSubscription } from './subscriptions.ts';

type ScheduleCheck =
  | { readonly state: 'due' | 'missed'; readonly slot: Slot; readonly next: Date | null }
  | { readonly state: 'waiting'; readonly next: Date | null };

/** The schedule of a digest at an instant; `lastDay` is the local day of its last post. */
export function checkSchedule(
  one: DigestSubscription,
  now: Date,
  lastDay: Day | null,
): ScheduleCheck {
  const schedule = scheduleOf(one);
  if (one.options.period === 'month') return checkMonthlySchedule(one, now, lastDay);
  const due = findDueSlot(schedule, now, lastDay);
  const next = nextSlot(schedule, now);
  if (due.state === 'waiting' || !isRequired(one, due, lastDay)) return { state: 'waiting', next };
  return { state: due.state, slot: due.slot, next };
}

/**
 * No post is required for a time before the digest was added, or while it was muted. The
 * configuration file has no start date, so a digest that was never posted is not missed.
 */
function isRequired(
  { since, options }: DigestSubscription,
  due: Exclude<DueSlot, { state: 'waiting' }>,
  lastDay: Day | null,
): boolean {
  const { at } = due.slot;
  if (options.mutedUntil !== null && at < options.mutedUntil) return false;
  if (since !== null) return at >= since;
  return lastDay !== null || due.state === 'due';
}

/** The last day of the month on which a monthly digest is posted: February has 28 days. */
const LATEST_CLOSE = 28;

function scheduleOf({ options }: DigestSubscription): Schedule {
  const { at, timezone, days, period } = options;
  return { at, timezone, days: period === 'month' ? DAYS : days };
}

// The previous month, once: at the scheduled time of a day in this month.
function checkMonthlySchedule(
  one: DigestSubscription,
  now: Date,
  lastDay: Day | null,
): ScheduleCheck {
  const schedule = scheduleOf(one);
  const next = nextSlot(schedule, now);
  const today = localDay(now, schedule.timezone);
  const first = startOf('month', today);
  const due = findDueSlot(schedule, now, lastDay);
  const isDone = lastDay !== null && lastDay >= first;
  if (isDone || due.state !== 'due' || due.slot.localDay < first) return { state: 'waiting', next };
  const isLate = Number(today.slice(8)) > longestWait(null);
  if ((isLate && lastDay === null) || !isRequired(one, due, lastDay)) {
    return { state: 'waiting', next };
  }
  return { state: 'due', slot: { ...due.slot, covers: previousMonth(today) }, next };
}

const WAIT_MS = 4 * HOUR_MS;

interface KnownDays {
  readonly now: Date;
  readonly states: readonly DayState[];
  readonly lockAge: LockAge | null;
  /** The last day that was settled when the previous digest was posted. */
  readonly settledBefore: Day | null;
}

/**
 * Whether to wait: a monthly digest for all of its days to become final, as long as they usually
 * need; another one for a further settled day. Source: docs/digests.md#schedule.
 */
export function shouldWaitForDays(
  one: DigestSubscription,
  slot: Slot,
  { now, states, lockAge, settledBefore }: KnownDays,
): boolean {
  if (one.options.period === 'month') {
    const closesOn = Math.min(LATEST_CLOSE, longestWait(lockAge));
    const closes = Number(slot.localDay.slice(8)) >= closesOn;
    return !closes && within(states, slot.covers).some(({ state }) => state !== 'final');
  }
  if (now.getTime() - slot.at.getTime() >= WAIT_MS) return false;
  if (settledBefore === null) return false;
  const settled = lastSettledDay(states);
  return settled === null || settled <= settledBefore;
}

/** A warning if the time is so soon after the end of the UTC day that few figures are in; else null. */
export function earlyTimeWarning(one: DigestSubscription, now: Date): string | null {
  const early = findEarlyTime(scheduleOf(one), now);
  if (early === null) return null;
  const hours = Math.floor(early.minutesAfterDay / 60);
  const minutes = early.minutesAfterDay % 60;
  const after = `${hours > 0 ? `${hours} h ` : ''}${minutes} min`;
  return (
    `⚠ ${one.options.at} is only ${after} after the end of the UTC day, when few figures are in. ` +
    `${early.better} is 6 h after it.`
  );
}

/** The days of a digest that is due now; on Mondays, a weekday digest covers the weekend. */
export function coversNow(one: DigestSubscription, now: Date): Span {
  const schedule = scheduleOf(one);
  const yesterday = addDays(dayOf(now), -1);
  if (one.options.period === 'month') return previousMonth(dayOf(now));
  if (one.options.period === 'week') return { first: addDays(yesterday, -6), last: yesterday };
  const due = findDueSlot({ ...schedule, at: localTime(now, schedule.timezone) }, now, null);
  return due.state === 'due' ? due.slot.covers : { first: yesterday, last: yesterday };
}
