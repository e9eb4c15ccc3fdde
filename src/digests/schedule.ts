import { DAYS } from '../config/digest-options.ts';
import { addMonths, type Span, startOf } from '../costs/calendar/calendar.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { localDay } from '../costs/calendar/local-time.ts';
import {
  type DigestDue,
  dueDigest,
  nextSlot,
  type Schedule,
  type Slot,
  tooEarly,
} from '../costs/calendar/schedule.ts';
import type { DayState } from '../costs/ledger/ledger.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

export type ScheduleCheck =
  | { readonly state: 'due' | 'missed'; readonly slot: Slot; readonly next: Date | null }
  | { readonly state: 'waiting'; readonly next: Date | null };

/** A month that is not final by then is reported with what can still change. */
const MONTH_CLOSES_ON = 7;

export function scheduleOf({ options }: DigestSubscription): Schedule {
  const { at, timezone, days, period } = options;
  return { at, timezone, days: period === 'month' ? DAYS : days };
}

/** What a digest asks for at an instant; `lastDay` is the local day of its last posting. */
export function checkSchedule(
  one: DigestSubscription,
  now: Date,
  lastDay: Day | null,
): ScheduleCheck {
  const schedule = scheduleOf(one);
  if (one.options.period === 'month') return checkMonthlySchedule(one, now, lastDay);
  const due = dueDigest(schedule, now, lastDay);
  const next = nextSlot(schedule, now);
  if (due.state === 'waiting' || !isRequired(one, due, lastDay)) return { state: 'waiting', next };
  return { state: due.state, slot: due.slot, next };
}

/**
 * Nothing is owed for a time at which nobody had asked yet, or during which it was muted. The file
 * does not say since when it asks, so that one that was never posted cannot have been missed.
 */
function isRequired(
  { since, options }: DigestSubscription,
  due: Exclude<DigestDue, { state: 'waiting' }>,
  lastDay: Day | null,
): boolean {
  const { at } = due.slot;
  if (options.mutedUntil !== null && at < options.mutedUntil) return false;
  if (since !== null) return at >= since;
  return lastDay !== null || due.state === 'due';
}

// The month before, once: when the clocks of the channel come to the time of a day in this month.
function checkMonthlySchedule(
  one: DigestSubscription,
  now: Date,
  lastDay: Day | null,
): ScheduleCheck {
  const schedule = scheduleOf(one);
  const next = nextSlot(schedule, now);
  const today = localDay(now, schedule.timezone);
  const first = startOf('month', today);
  const due = dueDigest(schedule, now, lastDay);
  const isDone = lastDay !== null && lastDay >= first;
  if (isDone || due.state !== 'due' || due.slot.localDay < first) return { state: 'waiting', next };
  const isLate = Number(today.slice(8)) > MONTH_CLOSES_ON;
  if ((isLate && lastDay === null) || !isRequired(one, due, lastDay)) {
    return { state: 'waiting', next };
  }
  const covers = { first: addMonths(first, -1), last: addDays(first, -1) };
  return { state: 'due', slot: { ...due.slot, covers }, next };
}

const WAIT_MS = 4 * 3_600_000;

/** Whether more of it may be final in a while, so that it is better to come back than to post. */
export function shouldWaitForFinalDays(
  one: DigestSubscription,
  slot: Slot,
  { now, states, finalBefore }: { now: Date; states: readonly DayState[]; finalBefore: Day | null },
): boolean {
  if (one.options.period === 'month') {
    const closes = Number(slot.localDay.slice(8)) >= MONTH_CLOSES_ON;
    return !closes && within(states, slot.covers).some(({ state }) => state !== 'final');
  }
  if (now.getTime() - slot.at.getTime() >= WAIT_MS) return false;
  const final = states.findLast(({ state }) => state === 'final')?.day ?? null;
  return final === null ? finalBefore !== null : finalBefore !== null && final <= finalBefore;
}

function within(states: readonly DayState[], { first, last }: Span): readonly DayState[] {
  return states.filter(({ day }) => day >= first && day <= last);
}

/** A warning if the time is so soon after the end of the UTC day that few figures are in; else null. */
export function earlyTimeWarning(one: DigestSubscription, now: Date): string | null {
  const early = tooEarly(scheduleOf(one), now);
  if (early === null) return null;
  const hours = Math.floor(early.minutesAfterDay / 60);
  const minutes = early.minutesAfterDay % 60;
  const after = `${hours > 0 ? `${hours} h ` : ''}${minutes} min`;
  return (
    `⚠ ${one.options.at} is only ${after} after the end of the UTC day, when few figures are in. ` +
    `${early.better} is 6 h after it.`
  );
}
