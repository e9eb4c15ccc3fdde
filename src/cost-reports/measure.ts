import { minImpactOf } from '../costs/anomaly/anomaly.ts';
import { addMonths, monthOf, type Span } from '../costs/calendar/calendar.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { headlineDay } from '../costs/comparison/standing.ts';
import { seriesOf } from '../costs/ledger/daily.ts';
import { type DayState, dayStates, selected, statesWithin } from '../costs/ledger/ledger.ts';
import { type CostRow, type DayValue, type Micro, microOf } from '../costs/ledger/row.ts';
import type { DigestFacts } from '../digests/facts.ts';
import { valueOn } from './compare-day.ts';

/** How far back the rows must reach: eight weeks of history, and the whole month before. */
export function rowsNeeded(today: Day): Span {
  const history = addDays(today, -63);
  const month = `${monthOf(addMonths(today, -2))}-01`;
  return { first: history < month ? history : month, last: today };
}

/** What the rows of one digest come to. */
export interface DigestMeasures {
  readonly rows: readonly CostRow[];
  readonly states: readonly DayState[];
  readonly series: readonly DayValue[];
  readonly minimum: Micro;
  /** The day that is spoken of; null where the report has nothing at all. */
  readonly day: DayValue | null;
}

export function measure({ read, today, selector, options }: DigestFacts): DigestMeasures {
  const span = rowsNeeded(today);
  const states = dayStates(read.rows, span);
  const series = seriesOf(read.rows, selector, span);
  const minimum = microOf(options.minimumCredits ?? minImpactOf(series));
  const headlined = headlineDay(states, today);
  const rows = selected(read.rows, selector);
  const own = statesWithin(read.rows, rows, span);
  const day = headlined ? valueOn(series, headlined.day) : null;
  return { rows, states: own, series, minimum, day };
}
