import type { Span } from '../base/calendar.ts';
import { DAY_MS, type Day, dayNumber, daysBetween, HOUR_MS } from '../base/time.ts';
import type { DayPrice } from './money.ts';
import { median, sum } from './numbers.ts';
import type { Completeness, CostRow, DayValue, Micro, OpenDay } from './rows.ts';

// The days of the report: which of them are final or open, and how complete open days are.

/** The reported costs of one UTC day. A day without any row has an unknown cost, not 0. */
export interface DayState {
  readonly day: Day;
  /** `final`: it has rows and all of them are locked. */
  readonly state: 'no-data' | 'preliminary' | 'final';
  /** What is known about a preliminary day. */
  readonly openDay?: OpenDay | undefined;
  readonly price?: DayPrice | undefined;
  readonly total: Micro;
}

type Sum = Omit<DayState, 'day'>;

const NOTHING: Sum = { state: 'no-data', total: 0 };

/** The state of every day of the span, in order. Source: docs/costs.md#day-states-and-locking. */
export function dayStates(rows: readonly CostRow[], { first, last }: Span): readonly DayState[] {
  const sums = new Map<Day, { -readonly [Key in keyof Sum]: Sum[Key] }>();
  for (const { day, total, locked, openDay, price } of rows) {
    const sum = sums.get(day) ?? { ...NOTHING };
    sum.state = locked && sum.state !== 'preliminary' ? 'final' : 'preliminary';
    sum.total += total;
    sum.openDay ??= openDay;
    sum.price ??= price;
    sums.set(day, sum);
  }
  return daysBetween(first, last).map((day) => ({ day, ...(sums.get(day) ?? NOTHING) }));
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

const COMPLETE: Completeness = { share: 1, error: 0, common: 0 };

/** An open day with less than this share of its cost shows only what it costs at least. */
const LEAST_SHARE = 0.4;

/**
 * The cost of a day when it is final, with its relative standard error: `value / share`. Null for an
 * open day that is too incomplete, or whose completeness is not learned.
 */
export function completed({
  value,
  final,
  openDay,
}: Pick<DayValue, 'value' | 'final' | 'openDay'>): {
  readonly value: number;
  readonly error: number;
  readonly common: number;
} | null {
  const known = final ? COMPLETE : openDay?.completeness;
  const { share, error, common } = known ?? { ...COMPLETE, share: 0 };
  return share < LEAST_SHARE ? null : { value: value / share, error, common };
}

/**
 * The open days of several reports together, and what is known about their sums: each part completed on its own. A day
 * that a report has no row of yet, while others have, is open; after three weeks, it cost nothing there.
 */
export function joinedDays(reports: readonly (readonly CostRow[])[]): ReadonlyMap<Day, OpenDay> {
  const seen = new Set<Day>();
  for (const rows of reports) for (const { day } of rows) seen.add(day);
  const days = [...seen].sort();
  const [first = '', last = first] = [days[0], days.at(-1)];
  const states = days.length === 0 ? [] : reports.map((rows) => dayStates(rows, { first, last }));
  const begun = states.map((own) => own.find(({ state }) => state !== 'no-data')?.day ?? '9');
  const open = days.flatMap((day) => {
    const index = dayNumber(day) - dayNumber(first);
    const isAwaited = dayNumber(last) - dayNumber(day) <= LONGEST_WAIT_DAYS;
    const parts = states
      .flatMap((own) => own[index] ?? [])
      .filter(({ state }, at) => state !== 'no-data' || (isAwaited && day > (begun[at] ?? '9')));
    return parts.every(({ state }) => state === 'final') ? [] : [[day, sumOfDay(parts)] as const];
  });
  return new Map(open);
}

function sumOfDay(parts: readonly DayState[]): OpenDay {
  const age = Math.max(...parts.map(({ openDay }) => openDay?.age ?? 0));
  const known = parts.map(({ state, openDay }) =>
    state === 'final' ? COMPLETE : (openDay?.completeness ?? UNKNOWN),
  );
  const wholes = parts.map(({ total }, at) => total / (known[at] ?? UNKNOWN).share);
  const whole = sum(wholes);
  if (!(whole > 0)) return { age, completeness: null };
  const mean = (of: keyof Completeness) =>
    sum(wholes.map((each, at) => each * (known[at] ?? UNKNOWN)[of])) / whole;
  return {
    age,
    completeness: { share: mean('share'), error: mean('error'), common: mean('common') },
  };
}

const UNKNOWN: Completeness = { share: Number.NaN, error: 0, common: 0 };

/** Selects the rows that match every given field; without fields, all rows. */
export interface RowSelector {
  /** With their pipes, without the storage and backups of their warehouse. */
  readonly services?: readonly string[];
  /** With `services`: the warehouses whose storage and backups are selected as well. */
  readonly storage?: readonly string[];
  /** With their services and pipes, if the rows of these name the warehouse. */
  readonly warehouses?: readonly string[];
  readonly entities?: readonly string[];
}

export function selectRows(rows: readonly CostRow[], selector: RowSelector): readonly CostRow[] {
  const services = selector.services && new Set(selector.services);
  const warehouses = selector.warehouses && new Set(selector.warehouses);
  const entities = selector.entities && new Set(selector.entities);
  const storage = new Set(selector.storage);
  return rows.filter(({ serviceId, warehouseId, entityId }) => {
    const isStorage = serviceId === null && storage.has(warehouseId ?? '');
    if (services && !services.has(serviceId ?? '') && !isStorage) return false;
    if (warehouses && !warehouses.has(warehouseId ?? '')) return false;
    return !entities || entities.has(entityId);
  });
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

const MOST_RATIOS = 28;
const READ_EVERY_MS = DAY_MS;
/** Two reads count as a day apart if they are 18 to 30 hours apart. */
const SLACK_MS = 6 * HOUR_MS;
/** The totals of days that are nearly complete may fall, but hardly more than this. */
const MOST_SHARE = 1.05;

/** How complete open days are, by their age in days. */
export type CompletenessByAge = ReadonlyMap<number, Completeness>;

/**
 * How complete days of each age are at the time of a read (chain ladder). For each two reads about a
 * day apart, a day that was open at the first has the ratio v₂ / v₁ at its age; g = the median of the
 * last 28 ratios of an age, share = Π 1 / g of this age and all later ones, at most 1.05;
 * error = |1 − share| · (0.2 + 0.5 / √n), n = the fewest ratios of a factor. Empty until a second
 * daily read. Source: docs/forecasts.md#completeness.
 */
export function learnCompleteness(history: SnapshotHistory, at: Date): CompletenessByAge {
  const ratios = ratiosByAge(history, at);
  const oldest = Math.max(0, ...ratios.keys());
  const all = new Map<number, Completeness>();
  let [share, fewest] = [1, Number.POSITIVE_INFINITY];
  for (let age = oldest; age >= 1; age -= 1) {
    const own = ratios.get(age) ?? [];
    if (own.length > 0) {
      share /= median(own);
      fewest = Math.min(fewest, own.length);
    }
    const capped = Math.min(share, MOST_SHARE);
    const open = Math.abs(1 - capped);
    const common = (0.5 * open) / Math.sqrt(fewest);
    all.set(age, { share: capped, error: 0.2 * open + common, common });
  }
  return all;
}

/** What is known about an open day of this age. */
export function openDayOf(day: Day, at: Date, learned: CompletenessByAge): OpenDay {
  const age = ageAt(day, at.getTime());
  if (learned.size === 0 || age < 1) return { age, completeness: null };
  // Days of a greater age were never seen to change.
  return { age, completeness: learned.get(age) ?? COMPLETE };
}

function ratiosByAge(history: SnapshotHistory, at: Date): ReadonlyMap<number, readonly number[]> {
  const reads = dailyReads(history.fetches, at.getTime());
  const ratios = new Map<number, number[]>();
  reads.slice(0, -1).forEach((second, index) => {
    const first = reads[index + 1] ?? second;
    if (second - first > READ_EVERY_MS + SLACK_MS || second - first < READ_EVERY_MS - SLACK_MS)
      return;
    for (const [day, all] of history.byDay) {
      const age = ageAt(day, first);
      if (age < 1) continue;
      const before = all.findLast((one) => one.fetchedAt.getTime() <= first);
      if (!before || before.final || before.total <= 0) continue;
      const after = all.findLast((one) => one.fetchedAt.getTime() <= second);
      const own = ratios.get(age) ?? [];
      if (own.length < MOST_RATIOS) own.push((after?.total ?? before.total) / before.total);
      ratios.set(age, own);
    }
  });
  return ratios;
}

/** One read for each day before the instant, the newest first: the one closest to the same hour. */
function dailyReads(fetches: readonly number[], at: number): readonly number[] {
  const reads: number[] = [];
  for (let back = 0; back < LEARNED_DAYS; back += 1) {
    const wanted = at - back * READ_EVERY_MS;
    const near = fetches.filter((one) => one <= at && Math.abs(one - wanted) <= SLACK_MS);
    const [closest] = near.toSorted((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted));
    if (closest !== undefined && closest !== reads.at(-1)) reads.push(closest);
  }
  return reads;
}

/** Days become final within two weeks; an older open day, or one without rows, is not waited for. */
export const LONGEST_WAIT_DAYS = 21;

/** Whole UTC days from the day to the instant: 1 on the following day. */
function ageAt(day: Day, instant: number): number {
  return Math.floor(instant / DAY_MS) - dayNumber(day);
}
