import type { Span } from '../calendar/calendar.ts';
import { type Day, daysBetween } from '../calendar/day.ts';
import type { CostRow, Micro } from './row.ts';

/** What is known of one UTC day. A day without any row is not a day that cost nothing. */
export interface DayState {
  readonly day: Day;
  /** `final`: it has rows and all of them are locked. */
  readonly state: 'no-data' | 'preliminary' | 'final';
  readonly rows: number;
  readonly openRows: number;
  readonly total: Micro;
  /** The part of the total that can still change: of the rows that are not locked. */
  readonly preliminary: Micro;
}

/** Which rows are meant: those that fit everything that is given; given nothing, all. */
export interface RowSelector {
  /** With their pipes. Storage and backups are the warehouse's, whatever service is stopped. */
  readonly services?: readonly string[];
  /** With their services and pipes, as far as the rows of these name the warehouse. */
  readonly warehouses?: readonly string[];
  readonly entities?: readonly string[];
}

type Sum = Pick<DayState, 'rows' | 'openRows' | 'total' | 'preliminary'>;

const NOTHING: Sum = { rows: 0, openRows: 0, total: 0, preliminary: 0 };

/** Every day of the span, in order, whatever the order of the rows. Source: docs/costs.md#day-states-and-locking. */
export function dayStates(rows: readonly CostRow[], { first, last }: Span): readonly DayState[] {
  const sums = new Map<Day, { -readonly [Key in keyof Sum]: Sum[Key] }>();
  for (const { day, total, locked } of rows) {
    const sum = sums.get(day) ?? { ...NOTHING };
    sum.rows += 1;
    sum.openRows += locked ? 0 : 1;
    sum.total += total;
    sum.preliminary += locked ? 0 : total;
    sums.set(day, sum);
  }
  return daysBetween(first, last).map((day) => dayState(day, sums.get(day) ?? NOTHING));
}

/**
 * The same days with the sums of only some rows. A day stays as final as the whole report says,
 * because rows may be added until all rows of the day are locked. On a day with other rows only,
 * these rows cost 0.
 */
export function statesWithin(
  states: readonly DayState[],
  own: readonly CostRow[],
): readonly DayState[] {
  const [first, last] = [states.at(0), states.at(-1)];
  if (!first || !last) return [];
  const sums = dayStates(own, { first: first.day, last: last.day });
  return sums.map((one, index) => ({ ...one, state: states[index]?.state ?? one.state }));
}

export function statesIn(states: readonly DayState[], { first, last }: Span): readonly DayState[] {
  return states.filter(({ day }) => day >= first && day <= last);
}

function dayState(day: Day, sum: Sum): DayState {
  if (sum.rows === 0) return { day, state: 'no-data', ...sum };
  return { day, state: sum.openRows === 0 ? 'final' : 'preliminary', ...sum };
}

/** The latest day that has rows, all locked; an earlier one may still be open. */
export function lastFinalDay(states: readonly DayState[]): Day | null {
  return states.findLast(({ state }) => state === 'final')?.day ?? null;
}

/** Millionths of a credit, exact: what the rows of the span cost together. */
export function total(rows: readonly CostRow[], { first, last }: Span): Micro {
  return rows.reduce((sum, row) => (row.day < first || row.day > last ? sum : sum + row.total), 0);
}

export function selected(rows: readonly CostRow[], selector: RowSelector): readonly CostRow[] {
  return rows.filter(picker(selector));
}

/** The selector as a question to one row, for whoever goes through the rows anyway. */
export function picker(selector: RowSelector): (row: CostRow) => boolean {
  const services = selector.services && new Set(selector.services);
  const warehouses = selector.warehouses && new Set(selector.warehouses);
  const entities = selector.entities && new Set(selector.entities);
  return ({ serviceId, warehouseId, entityId }) => {
    if (services && !services.has(serviceId ?? '')) return false;
    if (warehouses && !warehouses.has(warehouseId ?? '')) return false;
    return !entities || entities.has(entityId);
  };
}

/** Only what cannot change any more: the rows of final days. */
export function finalRows(
  rows: readonly CostRow[],
  states: readonly DayState[],
): readonly CostRow[] {
  const final = new Set(states.filter(({ state }) => state === 'final').map(({ day }) => day));
  return rows.filter(({ day }) => final.has(day));
}
