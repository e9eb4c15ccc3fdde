import type { DayState } from './ledger.ts';

const HOUR_MS = 3_600_000;
const WAITS_MS = 4 * HOUR_MS;
const RETRY_MS = HOUR_MS / 2;

export type Patience =
  | { readonly post: true; readonly preliminary: boolean }
  | { readonly post: false; readonly again: Date };

/**
 * Whether a digest that is due is posted now. While no day became final since the last one it waits,
 * looking again every half hour, for four hours after its time; then it is posted and says that its
 * figures are preliminary. Source: cost.md §8.3.
 */
export function postOrWait(dueAt: Date, now: Date, hasNewFinalDay: boolean): Patience {
  if (hasNewFinalDay) return { post: true, preliminary: false };
  const until = dueAt.getTime() + WAITS_MS;
  if (now.getTime() >= until) return { post: true, preliminary: true };
  return { post: false, again: new Date(Math.min(until, now.getTime() + RETRY_MS)) };
}

export type Closing =
  | { readonly due: false }
  /** `openDays`: how many days of the month are not final, or have no rows at all. */
  | { readonly due: true; readonly openDays: number };

const LATEST_CLOSING_DAY = 7;

/**
 * Whether the report on a month that is over is posted: once all its days are final, at the latest
 * on the seventh of the month that follows. `month`: the states of exactly its days; `dayOfMonth`:
 * today's, 1 or more. Source: cost.md §8.2.
 */
export function closing(month: readonly DayState[], dayOfMonth: number): Closing {
  const openDays = month.filter(({ state }) => state !== 'final').length;
  return openDays === 0 || dayOfMonth >= LATEST_CLOSING_DAY
    ? { due: true, openDays }
    : { due: false };
}
