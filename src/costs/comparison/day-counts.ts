import { type Span, within } from '../../base/calendar.ts';
import { type Day, dayNumber } from '../../base/time.ts';
import { relativeOf } from '../../maths/compare.ts';
import { type DayState, FRESH_DAYS, isSettled, isSettledDay } from '../../maths/days.ts';
import { type Money, moneyOf } from '../../maths/money.ts';
import { type DayValue, type Micro, microOf } from '../../maths/rows.ts';

/** The final, preliminary and missing days of a span; amounts in millionths of a credit. */
interface DayCounts {
  readonly total: Micro;
  readonly money: Money | null;
  readonly preliminary: Micro;
  /** `preliminary / total`, from 0 to 1; null if the total is 0. */
  readonly share: number | null;
  readonly days: number;
  readonly finalDays: number;
  readonly preliminaryDays: number;
  /** The days without data. No data is not zero: no sum and no average includes them. */
  readonly missing: readonly Day[];
}

/** Counts the days of a span by state. Source: docs/costs.md#standing. */
export function dayCountsOf(states: readonly DayState[], span: Span): DayCounts {
  const own = within(states, span);
  const sum = (key: 'total' | 'preliminary') => own.reduce((all, state) => all + state[key], 0);
  const those = (wanted: DayState['state']) => own.filter(({ state }) => state === wanted);
  const total = sum('total');
  const preliminary = sum('preliminary');
  return {
    total,
    money: moneyOf(own.map((state) => [state.price, state.total])),
    preliminary,
    share: total > 0 ? preliminary / total : null,
    days: own.length,
    finalDays: those('final').length,
    preliminaryDays: those('preliminary').length,
    missing: those('no-data').map(({ day }) => day),
  };
}

/**
 * The headline day of a report: the last settled day if it is at most five days ago, else the last
 * complete day with rows, which is not settled; null without any.
 * Source: docs/costs.md#day-states-and-locking.
 */
export function headlineDay(states: readonly DayState[], today: Day): DayState | null {
  const past = states.filter(({ day, state }) => day < today && state !== 'no-data');
  const settled = past.findLast(isSettledDay);
  const isFresh = settled && dayNumber(today) - dayNumber(settled.day) <= FRESH_DAYS;
  return (isFresh ? settled : past.at(-1)) ?? null;
}

type DayComparison =
  | { readonly state: 'settled'; readonly delta: Micro; readonly relative: number | null }
  /** Not settled, and already above the baseline: reported at once. */
  | { readonly state: 'already-above'; readonly delta: Micro }
  /** Not settled, and above the baseline if the day is as complete as other days at its age. */
  | { readonly state: 'heading-above'; readonly delta: Micro; readonly relative: number | null }
  /** Not settled and not above the baseline: not reported, because the day may be incomplete. */
  | { readonly state: 'not-settled' };

/**
 * Compares one day with a baseline in credits. Increases are reported early, decreases only when the
 * day is settled. With a completion factor, value / factor is compared: the value that the day has
 * when it is final, if it is as complete as other days at its age. Source: docs/costs.md#single-days.
 */
export function compareDay(day: DayValue, baseline: number): DayComparison {
  const before = microOf(baseline);
  const delta = microOf(day.value) - before;
  if (isSettled(day)) {
    return { state: 'settled', delta, relative: relativeOf(microOf(day.value), before) };
  }
  const { typical } = day.openDay?.completion ?? { typical: null };
  const expected = typical === null ? null : microOf(day.value / typical);
  if (expected !== null && expected > before) {
    const relative = relativeOf(expected, before);
    return { state: 'heading-above', delta: expected - before, relative };
  }
  return delta > 0 ? { state: 'already-above', delta } : { state: 'not-settled' };
}
