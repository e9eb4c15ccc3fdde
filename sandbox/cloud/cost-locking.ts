import { randomFraction, SEED } from '../api/random.ts';
import { dayNumber } from './days.ts';

/** When rows of the usage report become final. */
export interface CostLocking {
  /** A row locks this many days after its day. */
  readonly days: number;
  /** Rows lock only on each so many-th day: 7 is a weekly batch. */
  readonly batchDays: number;
  /** The share of rows, from 0 to 1, that lock one to seven days later than the others. */
  readonly stragglers: number;
}

const LONGEST_DELAY = 7;
/** Each report of a day that ended at most so many days ago has other figures. */
const MOVING_DAYS = 2;
/** A straggler is too low by this share until it locks. */
const STRAGGLER_LACKS = 0.02;

interface RowKey {
  readonly entityId: string;
  readonly day: string;
}

/** Whether the row is locked on the UTC day `today`. */
export function isLocked(locking: CostLocking, row: RowKey, today: string): boolean {
  return lockDay(locking, row) <= dayNumber(today);
}

/**
 * The reported share of the final figures of a row that is not locked. Each report moves the figures
 * of the last two days closer to the final ones, most of them upwards and some downwards. Older
 * figures do not move, except those of a straggler on the day it locks.
 */
export function reportedShare(
  locking: CostLocking,
  row: RowKey,
  { today, reads }: { readonly today: string; readonly reads: number },
): number {
  if (dayNumber(today) - dayNumber(row.day) > Math.min(MOVING_DAYS, locking.days)) {
    return isStraggler(locking, row) ? 1 - STRAGGLER_LACKS : 1;
  }
  const deviation = randomFraction(SEED, 'drift', row.entityId, row.day) * 0.3 - 0.06;
  return 1 - deviation * 0.85 ** reads;
}

function lockDay(locking: CostLocking, row: RowKey): number {
  const { entityId, day } = row;
  const wait = isStraggler(locking, row)
    ? 1 + Math.floor(LONGEST_DELAY * randomFraction(SEED, 'straggler delay', entityId, day))
    : 0;
  const number = dayNumber(day) + locking.days + wait;
  return Math.ceil(number / locking.batchDays) * locking.batchDays;
}

function isStraggler({ stragglers }: CostLocking, { entityId, day }: RowKey): boolean {
  return stragglers > 0 && randomFraction(SEED, 'straggler', entityId, day) < stragglers;
}
