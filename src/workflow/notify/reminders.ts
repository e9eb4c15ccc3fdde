import type { Change } from '../../changes/change.ts';
import type { Reminder } from '../messenger-port.ts';

interface Planned {
  readonly kind: string;
  readonly at: Date;
}

interface Schedule {
  readonly state: Change['state'];
  readonly firstMs: number;
  /** Each wait is so many times the one before, up to `longestMs`. */
  readonly factor: number;
  readonly longestMs: number;
  readonly most: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
// Often enough to be seen, seldom enough to be read: a quarter of an hour, then ever longer.
const SCHEDULES: Readonly<Record<Reminder, Schedule>> = {
  waiting: {
    state: 'pending',
    firstMs: 15 * MINUTE_MS,
    factor: 3,
    longestMs: DAY_MS,
    most: 10,
  },
  escalated: { state: 'pending', firstMs: DAY_MS, factor: 1, longestMs: DAY_MS, most: 1 },
  // The target stays locked until somebody has looked: this is not left to be forgotten.
  doubt: { state: 'unknown', firstMs: 15 * MINUTE_MS, factor: 4, longestMs: DAY_MS, most: 60 },
};

/** What is to be told of a change that has just entered a state, unless it leaves it before. */
export function remindersFor(before: Change, after: Change, now: Date): readonly Planned[] {
  if (before.state === after.state) return [];
  const names = (Object.keys(SCHEDULES) as Reminder[]).filter(
    (name) => SCHEDULES[name].state === after.state,
  );
  return names.flatMap((name) => {
    const at = firstOf(name, after, now);
    return at && !isTooLate(after, at) ? [{ kind: kindOf(name, 1), at }] : [];
  });
}

function firstOf(name: Reminder, { requires, confirmedAt }: Change, now: Date): Date | null {
  if (name !== 'escalated') return later(now, SCHEDULES[name].firstMs);
  const { escalation } = requires;
  return escalation && confirmedAt ? later(confirmedAt, escalation.afterMs) : null;
}

/** Which reminder a message of the outbox is; null for any other message. */
export function reminderOf(kind: string, { state }: Change): Reminder | 'over' | null {
  const [prefix, name] = kind.split(':');
  if (prefix !== 'remind') return null;
  const reminder = (Object.keys(SCHEDULES) as Reminder[]).find((each) => each === name);
  return reminder && SCHEDULES[reminder].state === state ? reminder : 'over';
}

/** The one behind it; null where there is none any more. */
export function reminderAfter(kind: string, change: Change, now: Date): Planned | null {
  const reminder = reminderOf(kind, change);
  if (reminder === null || reminder === 'over') return null;
  const { firstMs, most } = SCHEDULES[reminder];
  const next = Number(kind.split(':')[2]) + 1;
  // Counted from the state's beginning, however late this one was told; but not two at once.
  const planned = later(since(change) ?? now, waitOf(reminder, next));
  const at = planned > now ? planned : later(now, firstMs);
  return next <= most && !isTooLate(change, at) ? { kind: kindOf(reminder, next), at } : null;
}

/** All waits up to the reminder of this number. */
function waitOf(name: Reminder, n: number): number {
  const { firstMs, factor, longestMs } = SCHEDULES[name];
  const waits = Array.from({ length: n }, (_, before) =>
    Math.min(firstMs * factor ** before, longestMs),
  );
  return waits.reduce((sum, wait) => sum + wait, 0);
}

function since({ state, confirmedAt, outcome: ending }: Change): Date | null {
  return state === 'unknown' ? (ending?.at ?? null) : confirmedAt;
}

function kindOf(name: Reminder, n: number): string {
  return `remind:${name}:${n}`;
}

// Whoever has to decide by then is not reminded after it; a doubt does not expire.
function isTooLate({ state, expiresAt }: Change, at: Date): boolean {
  return state === 'pending' && at >= expiresAt;
}

function later(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms);
}
