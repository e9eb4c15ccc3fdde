import { lengthOf, monthOf, monthSpan, type Span, startOf } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import type { DayState } from '../ledger/ledger.ts';
import type { Micro } from '../ledger/row.ts';

/** The units by which many days are grouped. */
export type TimeUnit = 'day' | 'week' | 'month';

/** The days of a span in the same day, week or month. */
export interface Bucket extends Span {
  /** The day, the Monday of the week, or the month: the same key as in `sumBy`. */
  readonly key: string;
  /** Whether the span has all days of the unit: a part costs less than a whole one. */
  readonly isWhole: boolean;
  readonly total: Micro;
  /** Whether the figures of a day can still change. */
  readonly isOpen: boolean;
  /** The number of days with data. Without any, there is no figure, not a zero. */
  readonly days: number;
  readonly missing: readonly Day[];
}

const LENGTHS: Readonly<Record<TimeUnit, (day: Day) => number>> = {
  day: () => 1,
  week: () => 7,
  month: (day) => lengthOf(monthSpan(monthOf(day))),
};

/** Groups ordered days by unit; weeks begin on Monday. */
export function bucketsOf(states: readonly DayState[], unit: TimeUnit): readonly Bucket[] {
  const groups = Map.groupBy(states, ({ day }) => keyOf(day, unit));
  return [...groups].map(([key, own]) => bucketOf(key, own, unit));
}

function keyOf(day: Day, unit: TimeUnit): string {
  return unit === 'month' ? monthOf(day) : startOf(unit, day);
}

function bucketOf(key: string, states: readonly DayState[], unit: TimeUnit): Bucket {
  const first = states[0]?.day ?? key;
  const span = { first, last: states.at(-1)?.day ?? first };
  const missing = states.flatMap(({ day, state }) => (state === 'no-data' ? [day] : []));
  return {
    key,
    ...span,
    isWhole: lengthOf(span) === LENGTHS[unit](first),
    total: states.reduce((sum, { total }) => sum + total, 0),
    isOpen: states.some(({ state }) => state === 'preliminary'),
    days: states.length - missing.length,
    missing,
  };
}
