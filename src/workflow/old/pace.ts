import { MINUTE_MS } from '../../base/time.ts';
import type { Change } from '../../domain/change.ts';

const FIRST_MS = 5_000;

/** The longest time between two readings, in milliseconds. */
export const LONGEST_WAIT_MS = 10 * MINUTE_MS;

/** An accepted change is followed for this time, in milliseconds. */
export const FOLLOW_MS = 30 * MINUTE_MS;

/**
 * Returns the time until the next reading, in milliseconds: 5 s, then each 10 s in the first minute,
 * then each 30 s. An unknown outcome is read until it is resolved, after half an hour each 10 min.
 */
export function waitMs(state: Change['state'], ageMs: number): number {
  if (ageMs < FIRST_MS) return FIRST_MS;
  if (ageMs < MINUTE_MS) return 10_000;
  return state === 'unknown' && ageMs >= FOLLOW_MS ? LONGEST_WAIT_MS : 30_000;
}
