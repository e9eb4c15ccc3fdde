import { addMonths, monthOf, type Span } from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import { valueOn } from '../cost-reports/compare-day.ts';
import { headlineDay } from '../costs/comparison/day-counts.ts';
import { minImpactOf } from '../maths/anomalies.ts';
import { type DayState, selectRows, statesWithin } from '../maths/days.ts';
import { seriesFrom } from '../maths/lines.ts';
import { type CostRow, type DayValue, type Micro, microOf } from '../maths/rows.ts';
import { SETTLED_HISTORY_DAYS } from '../maths/statistics.ts';
import type { DigestFacts } from './facts.ts';

/** The days whose rows a digest needs: ten weeks of history, and all of the previous month. */
export function rowsNeeded(today: Day): Span {
  const history = addDays(today, -SETTLED_HISTORY_DAYS);
  const month = `${monthOf(addMonths(today, -2))}-01`;
  return { first: history < month ? history : month, last: today };
}

/** The rows of one digest, and what is computed from them once. */
export interface DigestMeasures {
  readonly rows: readonly CostRow[];
  /** The days with the totals of these rows. */
  readonly states: readonly DayState[];
  readonly series: readonly DayValue[];
  readonly minimum: Micro;
  /** The day of the headline; null if the report has no data. */
  readonly day: DayValue | null;
}

export function measure(facts: DigestFacts): DigestMeasures {
  const rows = selectRows(facts.read.rows, facts.selector);
  const states = statesWithin(facts.states, rows);
  const series = seriesFrom(states);
  const minimum = microOf(facts.options.minimumCredits ?? minImpactOf(series));
  const headline = headlineDay(facts.states, facts.today);
  const day = headline ? valueOn(series, headline.day) : null;
  return { rows, states, series, minimum, day };
}
