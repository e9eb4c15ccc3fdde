import type { DayState } from '../ledger/ledger.ts';
import type { Micro } from '../ledger/row.ts';
import { lengthOf, monthOf, monthSpan, type Span, startOf } from './calendar.ts';
import type { Day } from './day.ts';

/** What days are put together to where there are many. */
export type TimeUnit = 'day' | 'week' | 'month';

/** Those days of a span that lie in one and the same day, week or month. */
export interface Bucket extends Span {
  /** The day, the Monday of the week, or the month, as `sumBy` has it. */
  readonly key: string;
  /** Whether the span has all of its days: a part looks cheap beside a whole one. */
  readonly isWhole: boolean;
  readonly total: Micro;
  /** Whether one of its days can still change. */
  readonly isOpen: boolean;
  /** On how many days the report has data; with none of them there is no figure, and no zero. */
  readonly days: number;
  readonly missing: readonly Day[];
}

const LENGTHS: Readonly<Record<TimeUnit, (day: Day) => number>> = {
  day: () => 1,
  week: () => 7,
  month: (day) => lengthOf(monthSpan(monthOf(day))),
};

/** The days of a span, given in their order, put together by the calendar; weeks begin on Monday. */
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
