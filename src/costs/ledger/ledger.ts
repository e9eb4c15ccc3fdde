import type { Span } from '../../base/calendar.ts';
import { type Day, daysBetween } from '../../base/time.ts';
import { isSettled } from '../locking/open-day.ts';
import type { DayPrice } from '../money/price.ts';
import type { CostRow, Micro, OpenDay } from './row.ts';

/** The reported costs of one UTC day. A day without any row has an unknown cost, not 0. */
export interface DayState {
  readonly day: Day;
  /** `final`: it has rows and all of them are locked. */
  readonly state: 'no-data' | 'preliminary' | 'final';
  /** What is known about a preliminary day. Statistics use it if it is settled. */
  readonly openDay?: OpenDay | undefined;
  readonly price?: DayPrice | undefined;
  readonly rows: number;
  readonly openRows: number;
  readonly total: Micro;
  /** The part of the total that can still change, from rows that are not locked. */
  readonly preliminary: Micro;
}

/** Selects the rows that match every given field; without fields, all rows. */
export interface RowSelector {
  /** With their pipes, without the storage and backups of their warehouse. */
  readonly services?: readonly string[];
  /** With their services and pipes, if the rows of these name the warehouse. */
  readonly warehouses?: readonly string[];
  readonly entities?: readonly string[];
}

type Sum = Pick<DayState, 'rows' | 'openRows' | 'total' | 'preliminary' | 'openDay' | 'price'>;

const NOTHING: Sum = { rows: 0, openRows: 0, total: 0, preliminary: 0 };

/** The state of every day of the span, in order. Source: docs/costs.md#day-states-and-locking. */
export function dayStates(rows: readonly CostRow[], { first, last }: Span): readonly DayState[] {
  const sums = new Map<Day, { -readonly [Key in keyof Sum]: Sum[Key] }>();
  for (const { day, total, locked, openDay, price } of rows) {
    const sum = sums.get(day) ?? { ...NOTHING };
    sum.rows += 1;
    sum.openRows += locked ? 0 : 1;
    sum.total += total;
    sum.preliminary += locked ? 0 : total;
    sum.openDay ??= openDay;
    sum.price ??= price;
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
  return sums.map((one, index) => {
    const { state, openDay } = states[index] ?? one;
    return { ...one, state, openDay };
  });
}

function dayState(day: Day, sum: Sum): DayState {
  if (sum.rows === 0) return { day, state: 'no-data', ...sum };
  if (sum.openRows > 0) return { day, state: 'preliminary', ...sum };
  return { day, state: 'final', ...sum, openDay: undefined };
}

/** The latest day with rows that are all locked; an earlier day may still be open. */
export function lastFinalDay(states: readonly DayState[]): Day | null {
  return states.findLast(({ state }) => state === 'final')?.day ?? null;
}

/** Whether statistics may use the day: it is final, or settled. */
export function isSettledDay({ state, openDay }: Pick<DayState, 'state' | 'openDay'>): boolean {
  return isSettled({ final: state === 'final', openDay });
}

/** The latest day that is final or settled; an earlier day may still be open. */
export function lastSettledDay(states: readonly DayState[]): Day | null {
  return states.findLast(isSettledDay)?.day ?? null;
}

export function selectRows(rows: readonly CostRow[], selector: RowSelector): readonly CostRow[] {
  return rows.filter(rowFilter(selector));
}

/** The selector as a predicate of rows. */
export function rowFilter(selector: RowSelector): (row: CostRow) => boolean {
  const services = selector.services && new Set(selector.services);
  const warehouses = selector.warehouses && new Set(selector.warehouses);
  const entities = selector.entities && new Set(selector.entities);
  return ({ serviceId, warehouseId, entityId }) => {
    if (services && !services.has(serviceId ?? '')) return false;
    if (warehouses && !warehouses.has(warehouseId ?? '')) return false;
    return !entities || entities.has(entityId);
  };
}

/** The same rows; a day that is not final is not settled either. */
export function withoutOpenDays(rows: readonly CostRow[]): readonly CostRow[] {
  return rows.map(({ openDay: _, ...row }) => row);
}

/** The rows of final days, which cannot change any more. */
export function finalRows(
  rows: readonly CostRow[],
  states: readonly DayState[],
): readonly CostRow[] {
  const final = new Set(states.filter(({ state }) => state === 'final').map(({ day }) => day));
  return rows.filter(({ day }) => final.has(day));
}
