import type { Day } from '../../base/time.ts';
import {
  ageAt,
  type DaySnapshot,
  HOUR_MS,
  lastFetch,
  type SnapshotHistory,
} from './day-snapshots.ts';

/** How old a day is when all of its rows are locked, in whole UTC days. */
export interface LockAge {
  /** The median. */
  readonly usual: number;
  /** The 10th and the 90th percentile. */
  readonly low: number;
  readonly high: number;
  /** The number of days whose locking was observed. */
  readonly days: number;
}

/** The latest days count, because a server may change its rule. */
const LATEST = 28;
const LEAST = 3;
/** A day that locked between two fetches further apart has an unknown lock age. */
const LONGEST_GAP_MS = 36 * HOUR_MS;
/** Until the lock age is learned. On one live organization it was 12 to 14 days. */
const UNKNOWN_HIGH = 14;
const STRAGGLER_DAYS = 7;

/**
 * Learns the lock age from the snapshots of the last 28 days that were seen to lock, at most 36 hours
 * after the fetch before. An open day that is older than the median counts with its age so far, so
 * that a server that begins to lock later is noticed. Null with fewer than three such days.
 * Source: docs/costs.md#lock-age.
 */
export function learnLockAge(history: SnapshotHistory): LockAge | null {
  const days = [...history.byDay].sort(([a], [b]) => (a < b ? 1 : -1));
  const locked = days.flatMap(([day, all]) => lockAgeOf(day, all, history) ?? []).slice(0, LATEST);
  if (locked.length < LEAST) return null;
  const usual = percentile(locked, 0.5);
  const now = history.fetches.at(-1) ?? 0;
  const open = days
    .filter(([, all]) => all.at(-1)?.final === false)
    .map(([day]) => ageAt(day, now))
    .filter((age) => age > usual);
  const ages = [...open, ...locked].slice(0, LATEST);
  return {
    usual: percentile(ages, 0.5),
    low: percentile(ages, 0.1),
    high: percentile(ages, 0.9),
    days: locked.length,
  };
}

function lockAgeOf(day: Day, all: readonly DaySnapshot[], history: SnapshotHistory): number | null {
  const open = all.findLastIndex(({ final }) => !final);
  const locked = open < 0 ? undefined : all[open + 1];
  if (!locked) return null;
  const at = locked.fetchedAt.getTime();
  const before = lastFetch(history, at, false);
  return before !== null && at - before <= LONGEST_GAP_MS ? ageAt(day, at) : null;
}

/** The nearest rank, so that the result is a whole number of days. */
function percentile(ages: readonly number[], share: number): number {
  const sorted = ages.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/**
 * The age up to which Signalbox waits for a day to be final: one week more than the 90th percentile.
 * An older day that is not final is a straggler. Until the lock age is learned, 21 days.
 * Source: docs/costs.md#lock-age.
 */
export function longestWait(age: LockAge | null): number {
  return (age?.high ?? UNKNOWN_HIGH) + STRAGGLER_DAYS;
}

/** `days usually become final after 12 days (11–14)`; null until it is learned. */
export function lockAgeText(age: LockAge | null): string | null {
  if (age === null) return null;
  const { usual, low, high } = age;
  const range = low === high ? '' : ` (${low}–${high})`;
  return `days usually become final after ${usual} ${usual === 1 ? 'day' : 'days'}${range}`;
}
