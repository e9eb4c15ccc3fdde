import type { Span } from '../calendar/calendar.ts';
import { type Day, dayNumber } from '../calendar/day.ts';
import type { DayState } from '../ledger/ledger.ts';
import { type DayValue, type Micro, microOf } from '../ledger/row.ts';
import { relativeOf } from './comparison.ts';

/** How much of a span is known, and how much of that for good. Money in millionths of a credit. */
export interface DayCounts {
  readonly total: Micro;
  readonly preliminary: Micro;
  /** `preliminary / total`, from 0 to 1; null where nothing was paid. */
  readonly share: number | null;
  readonly days: number;
  readonly finalDays: number;
  readonly preliminaryDays: number;
  /** No data is not zero: these days are in no sum and in no average. */
  readonly missing: readonly Day[];
}

/** "1,234 so far; 3 of 30 days (8% of credits) preliminary". Source: docs/costs.md#standing. */
export function dayCountsOf(states: readonly DayState[], { first, last }: Span): DayCounts {
  const own = states.filter(({ day }) => day >= first && day <= last);
  const sum = (key: 'total' | 'preliminary') => own.reduce((all, state) => all + state[key], 0);
  const those = (wanted: DayState['state']) => own.filter(({ state }) => state === wanted);
  const total = sum('total');
  const preliminary = sum('preliminary');
  return {
    total,
    preliminary,
    share: total > 0 ? preliminary / total : null,
    days: own.length,
    finalDays: those('final').length,
    preliminaryDays: those('preliminary').length,
    missing: those('no-data').map(({ day }) => day),
  };
}

const FINAL_FRESH_DAYS = 4;

/**
 * The day that a report is about: the last final one if it is at most four days ago, else the last
 * complete day that has rows at all, which is preliminary; null without any. Source: docs/costs.md#day-states-and-locking.
 */
export function headlineDay(states: readonly DayState[], today: Day): DayState | null {
  const past = states.filter(({ day, state }) => day < today && state !== 'no-data');
  const final = past.findLast(({ state }) => state === 'final');
  const isFresh = final && dayNumber(today) - dayNumber(final.day) <= FINAL_FRESH_DAYS;
  return (isFresh ? final : past.at(-1)) ?? null;
}

export type DayVerdict =
  | { readonly state: 'final'; readonly delta: Micro; readonly relative: number | null }
  /** Not final, and already more than the baseline: told at once. */
  | { readonly state: 'already-above'; readonly delta: Micro }
  /** Not final and not above: nothing is said, for the rest of it may still come. */
  | { readonly state: 'not-final' };

/**
 * One day against a baseline in credits. Increases are told early, decreases only once they are
 * final. Where unlocked days were seen to fall (`mayFall`), not even an increase is told early.
 * Source: docs/costs.md#single-days.
 */
export function dayAgainst(day: DayValue, baseline: number, mayFall = false): DayVerdict {
  const delta = microOf(day.value) - microOf(baseline);
  if (day.final) {
    return { state: 'final', delta, relative: relativeOf(microOf(day.value), microOf(baseline)) };
  }
  return delta > 0 && !mayFall ? { state: 'already-above', delta } : { state: 'not-final' };
}
