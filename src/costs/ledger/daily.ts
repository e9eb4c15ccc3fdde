import type { Span } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import { type By, partsOf } from './grouping.ts';
import { type DayState, dayStates, picker, type RowSelector } from './ledger.ts';
import { type CostRow, creditsOf, type DayValue, type Metric, type Micro } from './row.ts';

/** A line of the report, day by day. */
export interface Daily {
  readonly key: string;
  readonly values: readonly DayValue[];
}

/**
 * Credits a day of what the selector picks, of its total or of one metric. A day on which the
 * report has rows but none of these is 0; a day without any row is absent, and so is one on which
 * these have rows but none of them names the metric. A value is final when its whole day is, for
 * until then another row of it may still come. Source: docs/costs.md#day-states-and-locking.
 */
export function seriesOf(
  rows: readonly CostRow[],
  selector: RowSelector & { readonly metric?: Metric },
  span: Span,
): readonly DayValue[] {
  const picks = picker(selector);
  const sums = new Map<Day, Micro | null>();
  for (const row of rows) {
    if (!picks(row)) continue;
    const amount = selector.metric === undefined ? row.total : row.metrics[selector.metric];
    const before = sums.get(row.day) ?? null;
    sums.set(row.day, amount === undefined ? before : (before ?? 0) + amount);
  }
  return valuesOf(dayStates(rows, span), sums);
}

/** The totals of these days as a series in credits, without the days that have no data. */
export function seriesFrom(states: readonly DayState[]): readonly DayValue[] {
  return states
    .filter(({ state }) => state !== 'no-data')
    .map(({ day, state, total }) => ({ day, value: creditsOf(total), final: state === 'final' }));
}

/**
 * The same for all lines at once, in a single pass: with thousands of entities asking for each
 * alone would read every row thousands of times. A metric that a row does not name is 0 here.
 */
export function allSeries(
  rows: readonly CostRow[],
  by: Exclude<By, 'day' | 'week' | 'month'>,
  span: Span,
): readonly Daily[] {
  const states = dayStates(rows, span);
  const parts = partsOf(by);
  const lines = new Map<string, Map<Day, Micro>>();
  for (const row of rows) {
    if (row.day < span.first || row.day > span.last) continue;
    for (const { key, amount } of parts(row)) {
      const sums = lines.get(key) ?? new Map<Day, Micro>();
      lines.set(key, sums.set(row.day, (sums.get(row.day) ?? 0) + amount));
    }
  }
  return [...lines]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, sums]) => ({ key, values: valuesOf(states, sums) }));
}

function valuesOf(
  states: readonly DayState[],
  sums: ReadonlyMap<Day, Micro | null>,
): readonly DayValue[] {
  const values: DayValue[] = [];
  for (const { day, state } of states) {
    const sum = sums.get(day) ?? (sums.has(day) ? null : 0);
    if (state === 'no-data' || sum === null) continue;
    values.push({ day, value: creditsOf(sum), final: state === 'final' });
  }
  return values;
}
