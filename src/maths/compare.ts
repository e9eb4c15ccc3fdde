import { lengthOf, type Span } from '../base/calendar.ts';
import { addDays, type Day, dayNumber } from '../base/time.ts';
import { dayStates } from './days.ts';
import { type Grouping, partsOf, type SummaryLine, sumBy } from './lines.ts';
import { type CostRow, type DayValue, type Micro, microOf } from './rows.ts';

// Two spans of days compared day by day: the totals, the lines that changed most, and the reasons.

/** The compared days of two spans. */
export interface DayPairs {
  readonly pairs: readonly DayPair[];
  /** Otherwise no day is final in both: all pairs are compared as reported. */
  readonly isFinal: boolean;
  readonly sameWeekdays: boolean;
}

/** A day of each span. */
export interface DayPair {
  readonly now: Day;
  readonly before: Day;
}

/**
 * Pairs the days of two spans in order, as many as both have, and keeps the pairs in which both days are final. Without
 * any, all pairs are compared as they are reported. Source: docs/costs.md#comparisons.
 */
export function pairDays(now: Span, before: Span, isFinal: (day: Day) => boolean): DayPairs {
  const count = Math.min(lengthOf(now), lengthOf(before));
  const all = Array.from({ length: count }, (_, index) => ({
    now: addDays(now.first, index),
    before: addDays(before.first, index),
  }));
  const final = all.filter((pair) => isFinal(pair.now) && isFinal(pair.before));
  const sameWeekdays = (dayNumber(now.first) - dayNumber(before.first)) % 7 === 0;
  return final.length > 0
    ? { pairs: final, isFinal: true, sameWeekdays }
    : { pairs: all, isFinal: false, sameWeekdays };
}

/** Amounts in millionths; `relative` is null if `before` is below one credit. */
export type Comparison = NonNullable<ReturnType<typeof compare>>;

/**
 * Compares the costs of two spans on the days that are final in both, else as reported; null if one of
 * them has no data. `series` contains both spans. `delta = Σ now − Σ before` in millionths;
 * `relative = delta / Σ before` from one credit on. Source: docs/costs.md#comparisons.
 */
export function compare(series: readonly DayValue[], now: Span, before: Span) {
  const values = new Map(series.map((value) => [value.day, value]));
  const { pairs, ...pairing } = pairDays(now, before, (day) => values.get(day)?.final ?? false);
  const valuesIn = (side: keyof DayPair) => pairs.flatMap((pair) => values.get(pair[side]) ?? []);
  const sides = { now: valuesIn('now'), before: valuesIn('before') };
  if (sides.now.length === 0 || sides.before.length === 0) return null;
  const sumOf = (own: readonly DayValue[]) =>
    own.reduce((sum, { value }) => sum + microOf(value), 0);
  const sums = { now: sumOf(sides.now), before: sumOf(sides.before) };
  const relative = relativeOf(sums.now, sums.before);
  const delta = sums.now - sums.before;
  return { days: pairs.length, ...pairing, ...sums, delta, relative };
}

/** Percentages of less than one credit are not meaningful. */
const BASELINE_AT_LEAST: Micro = microOf(1);

/** The change as a fraction of `before`; null if `before` is below one credit. */
export function relativeOf(now: Micro, before: Micro): number | null {
  return before < BASELINE_AT_LEAST ? null : (now - before) / before;
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
  /** Null for a new line, and if `before` is below one credit. */
  readonly relative: number | null;
}

/** The compared days of two spans of the report. `rows`: all rows decide about a day. */
export function pairsOf(rows: readonly CostRow[], now: Span, before: Span): DayPairs {
  const states = [...dayStates(rows, now), ...dayStates(rows, before)];
  const final = new Set(states.flatMap(({ day, state }) => (state === 'final' ? [day] : [])));
  return pairDays(now, before, (day) => final.has(day));
}

/** The change of every line on paired days. */
export function changesOn(
  rows: readonly CostRow[],
  by: Grouping,
  pairs: readonly DayPair[],
): readonly Mover[] {
  const linesOn = (side: keyof DayPair) => {
    const own = rowsOn(rows, pairs, side);
    return sumBy(own.rows, by, own.span);
  };
  return changesBetween(linesOn('now'), linesOn('before'));
}

type ComparedLine = Pick<SummaryLine, 'key' | 'name' | 'total'>;

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
    return { key, name, kind, ...sums, delta: sums.now - sums.before, relative };
  });
}

/** The rows of the paired days of one side, and the span of these days. */
function rowsOn(
  rows: readonly CostRow[],
  pairs: readonly DayPair[],
  side: keyof DayPair,
): { readonly rows: readonly CostRow[]; readonly span: Span } {
  const own = pairs.map((pair) => pair[side]);
  const days = new Set(own);
  const span = { first: own[0] ?? '', last: own.at(-1) ?? '' };
  return { rows: rows.filter(({ day }) => days.has(day)), span };
}

const MOST_MOVERS = 5;
const EXPLAINED = 0.8;

/** The lines with the largest changes, the largest first, until they explain 80%, at most five. */
function largest(all: readonly Mover[]): readonly Mover[] {
  const size = ({ delta }: Mover) => Math.abs(delta);
  const sorted = [...all].sort((a, b) => size(b) - size(a) || (a.key < b.key ? -1 : 1));
  let left = EXPLAINED * all.reduce((sum, mover) => sum + size(mover), 0);
  return sorted.slice(0, MOST_MOVERS).filter((mover) => {
    const isShown = left > 0;
    left -= size(mover);
    return isShown;
  });
}

interface ServiceMetric extends ComparedLine {
  /** Of a pipe or a warehouse without a service: its own. */
  readonly service: { readonly id: string; readonly name: string };
}

/** How one total became another: `before + Σ movers + others = now`, exact to the millionth. */
export type Explanation = ReturnType<typeof explainChange>;

/**
 * How the costs on the paired days changed, by service and metric. Pipes count to their service.
 * What the metrics of a row do not explain is a line as well, so that all lines add up to the total
 * of the rows.
 * Source: docs/costs.md#reasons.
 */
export function explainChange(rows: readonly CostRow[], pairs: readonly DayPair[]) {
  const [now, before] = [sideOf(rows, pairs, 'now'), sideOf(rows, pairs, 'before')];
  const moved = changesBetween(now.lines, before.lines).filter(({ delta }) => delta !== 0);
  const movers = largest(moved);
  const rest = moved.filter((one) => !movers.includes(one));
  const services = new Map([...before.lines, ...now.lines].map((line) => [line.key, line.service]));
  const ofMovers = movers.flatMap(({ key }) => services.get(key) ?? []);
  return {
    before: before.total,
    now: now.total,
    movers,
    // The sum of the other lines that changed, and their number.
    others: {
      micro: rest.reduce((sum, { delta }) => sum + delta, 0),
      lines: rest.length,
    },
    // The services of the movers, the largest one first.
    services: [...new Map(ofMovers.map((one) => [one.id, one])).values()],
  };
}

function sideOf(rows: readonly CostRow[], pairs: readonly DayPair[], side: keyof DayPair) {
  const own = rowsOn(rows, pairs, side);
  return {
    lines: linesOf(own.rows, own.span),
    total: own.rows.reduce((sum, { total }) => sum + total, 0),
  };
}

/** `analytics-prod · compute`; the metric follows, so a warehouse needs no list of its metrics. */
function linesOf(rows: readonly CostRow[], span: Span): readonly ServiceMetric[] {
  const servicesOf = partsOf('service');
  const groups = Map.groupBy(rows, (row) => servicesOf(row)[0]?.key);
  return sumBy(rows, 'service', span).flatMap(({ key: id, name: fullName }) => {
    const service = { id, name: fullName.replace(/: storage \+ backup$/, '') };
    return sumBy(groups.get(id) ?? [], 'metric', span).map(({ key, name, total }) => ({
      key: `${id} ${key}`,
      name: `${service.name} · ${name}`,
      service,
      total,
    }));
  });
}
