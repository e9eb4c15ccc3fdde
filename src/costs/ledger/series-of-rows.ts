import { isWithin, type Span } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import { type By, partsOf } from './grouping.ts';
import { type DayState, dayStates, type RowSelector, rowFilter } from './ledger.ts';
import { type CostRow, creditsOf, type DayValue, type Metric, type Micro } from './row.ts';

/** The daily values of a line of the report. */
interface LineSeries {
  readonly key: string;
  readonly values: readonly DayValue[];
}

/**
 * The daily credits of the selected rows, in total or of one metric. A day with other rows only is 0.
 * A day without any row is absent, and so is one whose selected rows do not name the metric. A value
 * is final when its whole day is, because rows may be added until then.
 * Source: docs/costs.md#day-states-and-locking.
 */
export function seriesOf(
  rows: readonly CostRow[],
  selector: RowSelector & { readonly metric?: Metric },
  span: Span,
): readonly DayValue[] {
  const picks = rowFilter(selector);
  const sums = new Map<Day, Micro | null>();
  for (const row of rows) {
    if (!picks(row)) continue;
    const amount = selector.metric === undefined ? row.total : row.metrics[selector.metric];
    const before = sums.get(row.day) ?? null;
    sums.set(row.day, amount === undefined ? before : (before ?? 0) + amount);
  }
  return valuesOf(dayStates(rows, span), sums);
}

/** The daily totals in credits, without the days that have no data. */
export function seriesFrom(states: readonly DayState[]): readonly DayValue[] {
  return states
    .filter(({ state }) => state !== 'no-data')
    .map(({ total, ...day }) => dayValue(day, creditsOf(total)));
}

/**
 * The series of all lines, in a single pass: with thousands of entities, separate series would read
 * every row thousands of times. A metric that a row does not name is 0.
 */
export function allSeries(
  rows: readonly CostRow[],
  by: Exclude<By, 'day' | 'week' | 'month'>,
  span: Span,
): readonly LineSeries[] {
  const states = dayStates(rows, span);
  const parts = partsOf(by);
  const lines = new Map<string, Map<Day, Micro>>();
  for (const row of rows) {
    if (!isWithin(span, row.day)) continue;
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
  for (const state of states) {
    const { day } = state;
    const sum = sums.get(day) ?? (sums.has(day) ? null : 0);
    if (state.state === 'no-data' || sum === null) continue;
    values.push(dayValue(state, creditsOf(sum)));
  }
  return values;
}

type OpenState = Pick<DayState, 'day' | 'state' | 'openDay' | 'price'>;

function dayValue({ day, state, openDay, price }: OpenState, value: number): DayValue {
  const known = { ...(openDay ? { openDay } : {}), ...(price ? { price } : {}) };
  return { day, value, final: state === 'final', ...known };
}
