import { DAY_MS, MINUTE_MS } from '../../base/time.ts';
import type { Change } from '../../domain/change.ts';
import type { ChangeMessage, Reminder } from '../../storage/old/outbox-message.ts';

type ReminderMessage = Extract<ChangeMessage, { kind: 'reminder' }>;
type PlannedReminder = ReminderMessage & { readonly at: Date };

interface Schedule {
  readonly state: Change['state'];
  readonly firstMs: number;
  /** Each wait is this many times the previous one, up to `longestMs`. */
  readonly factor: number;
  readonly longestMs: number;
  readonly most: number;
}

// After 15 minutes, then less and less often, so that users keep reading them.
const SCHEDULES: Readonly<Record<Reminder, Schedule>> = {
  waiting: {
    state: 'pending',
    firstMs: 15 * MINUTE_MS,
    factor: 3,
    longestMs: DAY_MS,
    most: 10,
  },
  escalated: { state: 'pending', firstMs: DAY_MS, factor: 1, longestMs: DAY_MS, most: 1 },
  // The target stays locked until a user resolves the outcome.
  unknown: { state: 'unknown', firstMs: 15 * MINUTE_MS, factor: 4, longestMs: DAY_MS, most: 60 },
};

/** The first reminders of the state that a change just entered. */
export function remindersFor(before: Change, after: Change, now: Date): readonly PlannedReminder[] {
  if (before.state === after.state) return [];
  const names = (Object.keys(SCHEDULES) as Reminder[]).filter(
    (name) => SCHEDULES[name].state === after.state,
  );
  return names.flatMap((reminder) => {
    const at = firstOf(reminder, after, now);
    if (!at || isTooLate(after, at)) return [];
    return [{ changeId: after.id, kind: 'reminder', reminder, number: 1, at }];
  });
}

function firstOf(name: Reminder, { requires, confirmedAt }: Change, now: Date): Date | null {
  if (name !== 'escalated') return later(now, SCHEDULES[name].firstMs);
  const { escalation } = requires;
  return escalation && confirmedAt ? later(confirmedAt, escalation.afterMs) : null;
}

/** Whether the change is still in the state that the reminder is about. */
export function isReminderDue({ reminder }: ReminderMessage, { state }: Change): boolean {
  return SCHEDULES[reminder].state === state;
}

/** The reminder that follows a sent one, or null. */
export function reminderAfter(
  message: ReminderMessage,
  change: Change,
  now: Date,
): PlannedReminder | null {
  if (!isReminderDue(message, change)) return null;
  const { firstMs, most } = SCHEDULES[message.reminder];
  const number = message.number + 1;
  // Counted from the start of the state. A delay must not cause two reminders at once.
  const planned = later(since(change) ?? now, waitUntil(message.reminder, number));
  const at = planned > now ? planned : later(now, firstMs);
  return number <= most && !isTooLate(change, at) ? { ...message, number, at } : null;
}

/** Until when a snooze delays the reminders of a change. */
export function snoozeEnd(now: Date): Date {
  return later(now, 60 * MINUTE_MS);
}

/** The time from the start of the state to its nth reminder. */
function waitUntil(name: Reminder, n: number): number {
  const { firstMs, factor, longestMs } = SCHEDULES[name];
  const waits = Array.from({ length: n }, (_, index) =>
    Math.min(firstMs * factor ** index, longestMs),
  );
  return waits.reduce((sum, wait) => sum + wait, 0);
}

function since({ state, confirmedAt, outcome: ending }: Change): Date | null {
  return state === 'unknown' ? (ending?.at ?? null) : confirmedAt;
}

// A pending change expires; an unknown outcome does not.
function isTooLate({ state, expiresAt }: Change, at: Date): boolean {
  return state === 'pending' && at >= expiresAt;
}

function later(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms);
}
