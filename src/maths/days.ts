import type { Span } from '../base/calendar.ts';
import { DAY_MS, type Day, dayNumber, daysBetween, HOUR_MS } from '../base/time.ts';
import type { DayPrice } from './money.ts';
import { quantile } from './numbers.ts';
import {
  type Completion,
  type CostRow,
  type Micro,
  type OpenDay,
  REPORT_ROUNDING,
} from './rows.ts';

// The days of the report: which of them are final, settled or open, and what earlier fetches show
// about them.

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

function dayState(day: Day, sum: Sum): DayState {
  if (sum.rows === 0) return { day, state: 'no-data', ...sum };
  if (sum.openRows > 0) return { day, state: 'preliminary', ...sum };
  return { day, state: 'final', ...sum, openDay: undefined };
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

/** Whether statistics may use a value: it is final, or settled. */
export function isSettled(value: {
  readonly final: boolean;
  readonly openDay?: OpenDay | undefined;
}): boolean {
  return value.final || value.openDay?.settled === true;
}

/** Whether statistics may use the day: it is final, or settled. */
export function isSettledDay({ state, openDay }: Pick<DayState, 'state' | 'openDay'>): boolean {
  return isSettled({ final: state === 'final', openDay });
}

/** The latest day with rows that are all locked; an earlier day may still be open. */
export function lastFinalDay(states: readonly DayState[]): Day | null {
  return states.findLast(({ state }) => state === 'final')?.day ?? null;
}

/** The latest day that is final or settled; an earlier day may still be open. */
export function lastSettledDay(states: readonly DayState[]): Day | null {
  return states.findLast(isSettledDay)?.day ?? null;
}

/** Selects the rows that match every given field; without fields, all rows. */
export interface RowSelector {
  /** With their pipes, without the storage and backups of their warehouse. */
  readonly services?: readonly string[];
  /** With their services and pipes, if the rows of these name the warehouse. */
  readonly warehouses?: readonly string[];
  readonly entities?: readonly string[];
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

/** The rows of final days, which cannot change any more. */
export function finalRows(
  rows: readonly CostRow[],
  states: readonly DayState[],
): readonly CostRow[] {
  const final = new Set(states.filter(({ state }) => state === 'final').map(({ day }) => day));
  return rows.filter(({ day }) => final.has(day));
}

/** The same rows; a day that is not final is not settled either. */
export function withoutOpenDays(rows: readonly CostRow[]): readonly CostRow[] {
  return rows.map(({ openDay: _, ...row }) => row);
}

/** The total of one UTC day in one fetched report; stored only when it differs from the one before. */
export interface DaySnapshot {
  readonly day: Day;
  readonly fetchedAt: Date;
  readonly total: Micro;
  /** All rows of the day were locked. */
  readonly final: boolean;
}

/** The snapshots of each day, oldest first, and the times of all fetches. */
export interface SnapshotHistory {
  readonly byDay: ReadonlyMap<Day, readonly DaySnapshot[]>;
  /** In milliseconds, sorted. Today's total changes often, so most fetches leave a snapshot. */
  readonly fetches: readonly number[];
}

/** Snapshots of learned figures begin this many days ago: eight weeks of days, and their locking. */
export const LEARNED_DAYS = 84;

export function snapshotHistory(snapshots: readonly DaySnapshot[]): SnapshotHistory {
  const sorted = snapshots.toSorted((a, b) => a.fetchedAt.getTime() - b.fetchedAt.getTime());
  return {
    byDay: Map.groupBy(sorted, ({ day }) => day),
    fetches: [...new Set(sorted.map(({ fetchedAt }) => fetchedAt.getTime()))],
  };
}

/** A day in a fetched report. */
interface ReportedDay {
  readonly day: Day;
  readonly total: Micro;
  readonly fetchedAt: Date;
}

/** A day that was first fetched at a greater age counts as settled until it moves. */
const NEW_DAYS = 3;
const UNMOVED_DAYS = 2;
/** A settled day is recent up to this age: its figures moved for three days, then not for two. */
export const FRESH_DAYS = NEW_DAYS + UNMOVED_DAYS;

/** Whether an open day is settled, and else how complete it is. Source: docs/costs.md#settled-days. */
export function openDayOf(reported: ReportedDay, history: SnapshotHistory): OpenDay {
  const settled = isUnmoved(reported, history);
  const ageMs = reported.fetchedAt.getTime() - startMs(reported.day);
  return { settled, completion: settled ? null : completionAt(history, ageMs) };
}

/**
 * Whether the total has not moved for two days since the end of the day. A day that was first
 * fetched when it was older than three days, and has not moved since, counts as well: on a new
 * installation there is no earlier snapshot.
 */
function isUnmoved({ day, total, fetchedAt }: ReportedDay, { byDay }: SnapshotHistory): boolean {
  const all = byDay.get(day) ?? [];
  const now = fetchedAt.getTime();
  const moved = all.findLastIndex((one) => Math.abs(one.total - total) > REPORT_ROUNDING);
  const since = all[moved + 1]?.fetchedAt.getTime() ?? now;
  if (moved < 0 && ageAt(day, since) > NEW_DAYS) return true;
  return now - Math.max(since, startMs(day) + DAY_MS) >= UNMOVED_DAYS * DAY_MS;
}

function startMs(day: Day): number {
  return dayNumber(day) * DAY_MS;
}

/** The last day that was final or settled at the instant; null without any. */
export function lastSettledAt({ byDay }: SnapshotHistory, at: Date): Day | null {
  const known = snapshotHistory([...byDay.values()].flat().filter((one) => one.fetchedAt <= at));
  const settled = [...known.byDay].flatMap(([day, all]) => {
    const last = all.at(-1);
    const isKnown = last?.final || (last && isUnmoved({ ...last, fetchedAt: at }, known));
    return isKnown ? [day] : [];
  });
  return settled.sort().at(-1) ?? null;
}

/** Two whole weeks. */
const LEAST_COMPLETED_DAYS = 14;
/** The value of a day at an instant is known if a fetch was at most this long before. */
const FRESH_MS = 6 * HOUR_MS;

/**
 * c = median of v(age) / final, over all final days with snapshots: the same age since the start of
 * the day, to the minute. Null with fewer than 14 such days. Source: docs/costs.md#completion-factors.
 */
function completionAt(history: SnapshotHistory, ageMs: number): Completion | null {
  const shares = [...history.byDay].flatMap(([day, all]) => {
    const last = all.at(-1);
    if (!last?.final || last.total <= 0) return [];
    const value = valueAt(all, startMs(day) + ageMs, history);
    return value === null ? [] : [value / last.total];
  });
  if (shares.length < LEAST_COMPLETED_DAYS) return null;
  const [typical, high] = [quantile(shares, 0.5), quantile(shares, 0.9)];
  // With a share of 0, nothing can be said about the final total.
  return typical > 0 ? { typical, high, days: shares.length } : null;
}

function valueAt(
  all: readonly DaySnapshot[],
  instant: number,
  history: SnapshotHistory,
): number | null {
  const fetched = history.fetches.findLast((at) => at <= instant);
  if (fetched === undefined || instant - fetched > FRESH_MS) return null;
  return all.findLast(({ fetchedAt }) => fetchedAt.getTime() <= instant)?.total ?? null;
}

/** How old a day is when all of its rows are locked, in whole UTC days. */
export interface LockAge {
  /** The median. */
  readonly usual: number;
  /** The 10th and the 90th percentile. */
  readonly low: number;
  readonly high: number;
  /** The number of days whose locking was observed. */
  readonly days: number;
}

/** Only the latest days count, because a server may change its rule. */
const LATEST_LOCKED_DAYS = 28;
const LEAST_LOCKED_DAYS = 3;
/** A day that locked between two fetches further apart has an unknown lock age. */
const LONGEST_GAP_MS = 36 * HOUR_MS;

/**
 * Learns the lock age from the snapshots of the last 28 days that were seen to lock, at most 36 hours
 * after the fetch before. An open day that is older than the median counts with its age so far, so
 * that a server that begins to lock later is noticed. Null with fewer than three such days.
 * Source: docs/costs.md#lock-age.
 */
export function learnLockAge(history: SnapshotHistory): LockAge | null {
  const days = [...history.byDay].sort(([a], [b]) => (a < b ? 1 : -1));
  const locked = days
    .flatMap(([day, all]) => lockAgeOf(day, all, history) ?? [])
    .slice(0, LATEST_LOCKED_DAYS);
  if (locked.length < LEAST_LOCKED_DAYS) return null;
  const usual = percentile(locked, 0.5);
  const now = history.fetches.at(-1) ?? 0;
  const open = days
    .filter(([, all]) => all.at(-1)?.final === false)
    .map(([day]) => ageAt(day, now))
    .filter((age) => age > usual);
  const ages = [...open, ...locked].slice(0, LATEST_LOCKED_DAYS);
  return {
    usual: percentile(ages, 0.5),
    low: percentile(ages, 0.1),
    high: percentile(ages, 0.9),
    days: locked.length,
  };
}

function lockAgeOf(day: Day, all: readonly DaySnapshot[], history: SnapshotHistory): number | null {
  const open = all.findLastIndex(({ final }) => !final);
  const locked = open < 0 ? undefined : all[open + 1];
  if (!locked) return null;
  const at = locked.fetchedAt.getTime();
  const before = history.fetches.findLast((fetched) => fetched < at);
  return before !== undefined && at - before <= LONGEST_GAP_MS ? ageAt(day, at) : null;
}

/** The nearest rank, so that the result is a whole number of days. */
function percentile(ages: readonly number[], share: number): number {
  const sorted = ages.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** Until the lock age is learned. On one live organization it was 12 to 14 days. */
const UNKNOWN_HIGH = 14;
const STRAGGLER_DAYS = 7;

/**
 * The age up to which Signalbox waits for a day to be final: one week more than the 90th percentile.
 * An older day that is not final is a straggler. Until the lock age is learned, 21 days.
 * Source: docs/costs.md#lock-age.
 */
export function longestWait(age: LockAge | null): number {
  return (age?.high ?? UNKNOWN_HIGH) + STRAGGLER_DAYS;
}

/** `days usually become final after 12 days (11–14)`; null until it is learned. */
export function lockAgeText(age: LockAge | null): string | null {
  if (age === null) return null;
  const { usual, low, high } = age;
  const range = low === high ? '' : ` (${low}–${high})`;
  return `days usually become final after ${usual} ${usual === 1 ? 'day' : 'days'}${range}`;
}

/** Whole UTC days from the day to the instant: 1 on the following day. */
function ageAt(day: Day, instant: number): number {
  return Math.floor(instant / DAY_MS) - dayNumber(day);
}
