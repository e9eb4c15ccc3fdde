/** When a digest is due, and which days it reports. */
import type { Span } from '../base/calendar.ts';
import { addDays, type Day, dayOf, instantAt, localDay, MINUTE_MS } from '../base/time.ts';
import { type DueSlot, findDueSlot, nextSlot, type Slot } from '../base/weekly-times.ts';
import type { DigestSubscription } from './subscriptions.ts';

/** The schedule of a digest at an instant; `lastDay` is the local day of its last post. */
export function checkSchedule(one: DigestSubscription, now: Date, lastDay: Day | null) {
  const due = findDueSlot(one.options, now, lastDay);
  const next = nextSlot(one.options, now);
  if (due.state === 'waiting' || !isRequired(one, due, lastDay))
    return { state: 'waiting', next } as const;
  return { ...due, next };
}

/**
 * No post is required for a time before the digest was added or resumed. The
 * configuration file has no start date, so a digest that was never posted is not missed.
 */
function isRequired(
  { since }: DigestSubscription,
  due: Exclude<DueSlot, { state: 'waiting' }>,
  lastDay: Day | null,
): boolean {
  if (since !== null) return due.slot.at >= since;
  return lastDay !== null || due.state === 'due';
}

const ENDED_AFTER_MS = 15 * MINUTE_MS;

/**
 * The UTC day that a daily or weekly digest reports: the one before its slot, and always later than
 * the last one. Where the clocks changed, that day may not be over: null until 00:15 UTC after it.
 */
export function dayToReport(slot: Slot, lastReported: Day | null, now: Date): Day | null {
  const yesterday = addDays(dayOf(slot.at), -1);
  const isRepeated = lastReported !== null && lastReported >= yesterday;
  const day = isRepeated ? addDays(yesterday, 1) : yesterday;
  if (lastReported !== null && lastReported >= day) return null;
  const ended = Date.parse(`${addDays(day, 1)}T00:00:00Z`);
  return now.getTime() >= ended + (isRepeated ? ENDED_AFTER_MS : 0) ? day : null;
}

/** Whether the digest is posted at some time of the local day of an instant. */
export function hasSlotOn(one: DigestSubscription, now: Date): boolean {
  const { timezone } = one.options;
  const midnight = instantAt(localDay(now, timezone), '00:00', timezone);
  const next = nextSlot(one.options, new Date(midnight.getTime() - 1));
  return next !== null && localDay(next, timezone) === localDay(now, timezone);
}

/** The days of a digest that is composed now. */
export function coversNow(one: DigestSubscription, now: Date): Span {
  const yesterday = addDays(dayOf(now), -1);
  if (one.options.period === 'week') return { first: addDays(yesterday, -6), last: yesterday };
  return { first: yesterday, last: yesterday };
}
