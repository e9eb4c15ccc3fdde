import { addMonths, lengthOf, type Span, startOf } from '../base/calendar.ts';
import { addDays, type Day, dayNumber } from '../base/time.ts';
import { dayStates, isSettled, isSettledDay } from './days.ts';
import { type By, partsOf, type SummaryLine, sumBy, type TimeUnit } from './lines.ts';
import { type Money, moneyDifference, moneyOf, moneySum } from './money.ts';
import { type CostRow, type DayValue, type Micro, microOf } from './rows.ts';

// Two spans of days compared day by day: the totals, the lines that changed most, and the reasons.

/** Why two spans cannot be compared. */
export type PairingProblem = 'unequal-lengths' | 'unequal-weekdays' | 'no-common-settled-days';

interface Incomparable {
  readonly ok: false;
  readonly why: PairingProblem;
}

type DayPairs =
  | { readonly ok: true; readonly pairs: readonly DayPair[]; readonly sameWeekdays: boolean }
  | Incomparable;

export interface DayPair {
  readonly now: Day;
  readonly before: Day;
}

/**
 * Pairs the days of two spans in order and keeps the pairs in which both days are settled. Lengths and
 * weekdays must be equal; otherwise a Monday would appear as an increase. Two spans that begin on the
 * first of a month are months: as many days as both have, with any weekdays.
 * Source: docs/costs.md#comparisons.
 */
export function pairDays(now: Span, before: Span, isUsable: (day: Day) => boolean): DayPairs {
  const lengths = [lengthOf(now), lengthOf(before)] as const;
  const sameWeekdays = (dayNumber(now.first) - dayNumber(before.first)) % 7 === 0;
  if (!areMonths(now, before)) {
    if (lengths[0] !== lengths[1]) return { ok: false, why: 'unequal-lengths' };
    if (!sameWeekdays) return { ok: false, why: 'unequal-weekdays' };
  }
  const pairs = Array.from({ length: Math.min(...lengths) }, (_, index) => ({
    now: addDays(now.first, index),
    before: addDays(before.first, index),
  })).filter((pair) => isUsable(pair.now) && isUsable(pair.before));
  return pairs.length === 0
    ? { ok: false, why: 'no-common-settled-days' }
    : { ok: true, pairs, sameWeekdays };
}

function areMonths(now: Span, before: Span): boolean {
  return now.first.endsWith('-01') && before.first.endsWith('-01');
}

export type Comparison =
  | Incomparable
  | {
      readonly ok: true;
      /** The number of compared days of each span, all settled. */
      readonly days: number;
      /** The number of these pairs in which a day is not locked. */
      readonly notLocked: number;
      readonly now: Micro;
      readonly before: Micro;
      readonly delta: Micro;
      readonly money: Readonly<Record<'now' | 'before' | 'delta', Money | null>>;
      /** `delta / before`; null if `before` is below one credit. */
      readonly relative: number | null;
      readonly sameWeekdays: boolean;
    };

/**
 * Compares the costs of two spans on the days that are settled in both. `series` contains both spans.
 * `delta = Σ now − Σ before` in millionths; `relative = delta / Σ before` from one credit on. Not
 * possible for unequal lengths or weekdays, or without a day that is settled in both.
 * Source: docs/costs.md#comparisons.
 */
export function compare(series: readonly DayValue[], now: Span, before: Span): Comparison {
  const values = new Map(series.map((value) => [value.day, value]));
  const settled = new Set(series.filter(isSettled).map(({ day }) => day));
  const pairing = pairDays(now, before, (day) => settled.has(day));
  if (!pairing.ok) return pairing;

  const { pairs, sameWeekdays } = pairing;
  const microOn = (day: Day) => microOf(values.get(day)?.value ?? 0);
  const sumOf = (side: keyof DayPair) => pairs.reduce((sum, pair) => sum + microOn(pair[side]), 0);
  const sums = { now: sumOf('now'), before: sumOf('before') };
  const moneyIn = (side: keyof DayPair) =>
    moneyOf(pairs.map((pair) => [values.get(pair[side])?.price, microOn(pair[side])]));
  const priced = { now: moneyIn('now'), before: moneyIn('before') };
  const money = { ...priced, delta: moneyDifference(priced.now, priced.before) };
  const relative = relativeOf(sums.now, sums.before);
  const delta = sums.now - sums.before;
  const isFinal = (day: Day) => values.get(day)?.final ?? false;
  const notLocked = openPairs(pairs, isFinal);
  return { ok: true, days: pairs.length, notLocked, ...sums, delta, money, relative, sameWeekdays };
}

/** The number of pairs in which a day is not locked. */
function openPairs(pairs: readonly DayPair[], isFinal: (day: Day) => boolean): number {
  return pairs.filter(({ now, before }) => !isFinal(now) || !isFinal(before)).length;
}

/** Percentages of less than one credit are not meaningful. */
const BASELINE_AT_LEAST: Micro = microOf(1);

/** The change as a fraction of `before`; null if `before` is below one credit. */
export function relativeOf(now: Micro, before: Micro): number | null {
  return before < BASELINE_AT_LEAST ? null : (now - before) / before;
}

/**
 * Compares the month so far, through its last settled day, with the previous month through the same
 * day. `through` is null if the month of `today` has no settled day.
 * Source: docs/costs.md#comparisons.
 */
export function monthToDate(
  series: readonly DayValue[],
  today: Day,
): { readonly through: Day | null; readonly comparison: Comparison } {
  const first = startOf('month', today);
  const through = series
    .filter(isSettled)
    .reduce<Day | null>(
      (latest, { day }) =>
        day >= first && day <= today && (latest === null || day > latest) ? day : latest,
      null,
    );
  if (through === null) {
    return { through, comparison: { ok: false, why: 'no-common-settled-days' } };
  }
  const before = { first: addMonths(first, -1), last: addMonths(through, -1) };
  return { through, comparison: compare(series, { first, last: through }, before) };
}

/** A line whose cost changed; amounts in millionths of a credit. */
export interface Mover {
  readonly key: string;
  readonly name: string;
  /** `new`: no row at all on the days before; `vanished`: none on the days now. */
  readonly kind: 'changed' | 'new' | 'vanished';
  readonly now: Micro;
  readonly before: Micro;
  readonly delta: Micro;
  /** Of `delta`: with the prices of the compared days, so that a new price is a change as well. */
  readonly money: Money | null;
  /** Null for a new line, and if `before` is below one credit. */
  readonly relative: number | null;
}

type Movers =
  | {
      readonly ok: true;
      /** The number of compared days of each span. */
      readonly days: number;
      /** The number of these pairs in which a day is not locked. */
      readonly notLocked: number;
      readonly movers: readonly Mover[];
    }
  | Incomparable;

interface MoverOptions {
  readonly by: Exclude<By, TimeUnit>;
  /** Smaller changes are left out. */
  readonly minimum: Micro;
}

/**
 * The lines with the largest `|Δ|` between two spans, on the days that are settled in both, until they
 * explain 80% of `Σ|Δ|` over all lines: at most five, each at least the minimum. The spans must be
 * comparable, as in `compare`. Source: docs/costs.md#movers.
 */
export function moversOf(
  rows: readonly CostRow[],
  now: Span,
  before: Span,
  { by, minimum }: MoverOptions,
): Movers {
  const pairing = settledPairs(rows, now, before);
  if (!pairing.ok) return pairing;

  const { pairs, notLocked } = pairing;
  const movers = largest(changesOn(rows, by, pairs), minimum, null);
  return { ok: true, days: pairs.length, notLocked, movers };
}

/**
 * The pairs of days that are settled in both spans, and the number of them in which a day is not
 * locked. `rows`: all rows decide about a day.
 */
export function settledPairs(rows: readonly CostRow[], now: Span, before: Span) {
  const states = [...dayStates(rows, now), ...dayStates(rows, before)];
  const settled = new Map(states.filter(isSettledDay).map(({ day, state }) => [day, state]));
  const pairing = pairDays(now, before, (day) => settled.has(day));
  if (!pairing.ok) return pairing;
  const isFinal = (day: Day) => settled.get(day) === 'final';
  return { ...pairing, notLocked: openPairs(pairing.pairs, isFinal) };
}

/** The change of every line on paired days. */
export function changesOn(
  rows: readonly CostRow[],
  by: By,
  pairs: readonly DayPair[],
): readonly Mover[] {
  const linesOn = (side: keyof DayPair) => {
    const own = rowsOn(rows, pairs, side);
    return sumBy(own.rows, by, own.span);
  };
  return changesBetween(linesOn('now'), linesOn('before'));
}

type ComparedLine = Pick<SummaryLine, 'key' | 'name' | 'total' | 'money'>;

/** The change of every line of both lists. A line has its current name. */
function changesBetween(
  nowLines: readonly ComparedLine[],
  beforeLines: readonly ComparedLine[],
): readonly Mover[] {
  const byKey = (lines: readonly ComparedLine[]) => new Map(lines.map((line) => [line.key, line]));
  const [now, before] = [byKey(nowLines), byKey(beforeLines)];
  return [...new Map([...before, ...now]).values()].map(({ key, name }) => {
    const [is, was] = [now.get(key), before.get(key)];
    const sums = { now: is?.total ?? 0, before: was?.total ?? 0 };
    const kind = is === undefined ? 'vanished' : was === undefined ? 'new' : 'changed';
    const relative = relativeOf(sums.now, sums.before);
    const money = moneyDifference(is?.money, was?.money);
    return { key, name, kind, ...sums, delta: sums.now - sums.before, money, relative };
  });
}

/** The rows of the paired days of one side, and the span of these days. */
function rowsOn(
  rows: readonly CostRow[],
  pairs: readonly DayPair[],
  side: keyof DayPair,
): { readonly rows: readonly CostRow[]; readonly span: Span } {
  const days = new Set(pairs.map((pair) => pair[side]));
  const span = { first: pairs[0]?.[side] ?? '', last: pairs.at(-1)?.[side] ?? '' };
  return { rows: rows.filter(({ day }) => days.has(day)), span };
}

const MOST_MOVERS = 5;
const EXPLAINED = 0.8;

/**
 * The lines with the largest changes, each at least the minimum, the largest first. `top`: that many
 * lines; null: until they explain 80%, at most five.
 */
function largest(all: readonly Mover[], minimum: Micro, top: number | null): readonly Mover[] {
  const size = ({ delta }: Mover) => Math.abs(delta);
  const sorted = [...all].sort((a, b) => size(b) - size(a) || (a.key < b.key ? -1 : 1));
  const enough = EXPLAINED * all.reduce((sum, mover) => sum + size(mover), 0);
  const movers: Mover[] = [];
  let explained = 0;
  for (const mover of sorted) {
    const isEnough = top === null && explained >= enough;
    if (size(mover) < minimum || isEnough || movers.length === (top ?? MOST_MOVERS)) break;
    movers.push(mover);
    explained += size(mover);
  }
  return movers;
}

interface ServiceMetric extends ComparedLine {
  /** Of a pipe or a warehouse without a service: its own. */
  readonly service: { readonly id: string; readonly name: string };
}

/** Millionths of a credit; the money is null without a price for each of its days. */
interface Amount {
  readonly micro: Micro;
  readonly money: Money | null;
}

/** How one total became another: `before + Σ movers + others = now`, exact to the millionth. */
export interface Explanation {
  readonly before: Amount;
  readonly now: Amount;
  readonly movers: readonly Mover[];
  /** The sum of the other lines that changed, and their number. */
  readonly others: Amount & { readonly lines: number };
  /** The services of the movers, the largest one first. */
  readonly services: readonly ServiceMetric['service'][];
}

/**
 * How the costs on the paired days changed, by service and metric. Pipes count to their service.
 * What the metrics of a row do not explain is a line as well, so that all lines add up to the total
 * of the rows. `top`: the number of movers; null: until they explain 80%, at most five.
 * Source: docs/costs.md#reasons.
 */
export function explainChange(
  rows: readonly CostRow[],
  pairs: readonly DayPair[],
  top: number | null,
): Explanation {
  const [now, before] = [sideOf(rows, pairs, 'now'), sideOf(rows, pairs, 'before')];
  const moved = changesBetween(now.lines, before.lines).filter(({ delta }) => delta !== 0);
  const movers = largest(moved, 0, top);
  const rest = moved.filter((one) => !movers.includes(one));
  const services = new Map([...before.lines, ...now.lines].map((line) => [line.key, line.service]));
  const ofMovers = movers.flatMap(({ key }) => services.get(key) ?? []);
  return {
    before: before.total,
    now: now.total,
    movers,
    others: {
      micro: rest.reduce((sum, { delta }) => sum + delta, 0),
      money: moneySum(rest.map(({ money }) => money)),
      lines: rest.length,
    },
    services: [...new Map(ofMovers.map((one) => [one.id, one])).values()],
  };
}

function sideOf(rows: readonly CostRow[], pairs: readonly DayPair[], side: keyof DayPair) {
  const own = rowsOn(rows, pairs, side);
  return { lines: linesOf(own.rows, own.span), total: totalOf(own.rows) };
}

function totalOf(rows: readonly CostRow[]): Amount {
  const micro = rows.reduce((sum, { total }) => sum + total, 0);
  return { micro, money: moneyOf(rows.map(({ price, total }) => [price, total])) };
}

/** `analytics-prod · compute`; the metric follows, so a warehouse needs no list of its metrics. */
function linesOf(rows: readonly CostRow[], span: Span): readonly ServiceMetric[] {
  const servicesOf = partsOf('service');
  const groups = Map.groupBy(rows, (row) => servicesOf(row)[0]?.key);
  return sumBy(rows, 'service', span).flatMap(({ key: id, name: fullName }) => {
    const service = { id, name: fullName.replace(/: storage \+ backup$/, '') };
    return sumBy(groups.get(id) ?? [], 'metric', span).map(({ key, name, total, money }) => ({
      key: `${id} ${key}`,
      name: `${service.name} · ${name}`,
      service,
      total,
      money,
    }));
  });
}
