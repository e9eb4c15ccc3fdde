import { cached } from '../base/cache.ts';
import {
  formatDay,
  formatMonth,
  formatShortSpan,
  lengthOf,
  monthOf,
  monthSpan,
  type Span,
  startOf,
  within,
} from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import { type DayState, dayStates, type RowSelector, selectRows, statesWithin } from './days.ts';
import {
  type CostRow,
  creditsOf,
  type DayValue,
  entityKey,
  type Metric,
  type Micro,
} from './rows.ts';

// The rows of a span as lines: summed by entity, label, metric or time, by calendar, and day by day.

/** How rows are grouped into lines. */
export const GROUPINGS = [
  'service',
  'warehouse',
  'day',
  'metric',
  'week',
  'month',
  'tag',
  'team',
  'organization',
] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The units by which many days are grouped. */
export type TimeUnit = 'day' | 'week' | 'month';

/** Whether lines are ordered by time; all others are ordered by cost. */
export function isOfTime(by: Grouping): by is TimeUnit {
  return by === 'day' || by === 'week' || by === 'month';
}

/** The sum of a line, in millionths of a credit. */
export interface SummaryLine {
  /** An id, a day, the Monday of a week, a month or a metric; `OTHER_LINES` for the remaining lines. */
  readonly key: string;
  readonly name: string;
  readonly total: Micro;
  /** The share of the total of the span, from 0 to 1; null if that total is not above 0. */
  readonly share: number | null;
  /** The number of days with rows. */
  readonly days: number;
}

/** With a space, so that no tag and no team is this key. */
export const OTHER_LINES = 'other lines';

interface Sum {
  readonly key: string;
  name: { readonly text: string; readonly isOwn: boolean; readonly day: Day };
  total: Micro;
  readonly days: Set<Day>;
}

/**
 * Sums the rows of the span by line, exact to the millionth. The lines add up to the total of the
 * rows. Lines are ordered by cost, or by time for days, weeks and months. A renamed entity has its
 * latest name. Source: docs/costs.md#sums.
 */
export function sumBy(rows: readonly CostRow[], by: Grouping, span: Span): readonly SummaryLine[] {
  const sums = sumsOf(rows, by, span);
  const all = sums.reduce((sum, { total }) => sum + total, 0);
  const byKey = (a: Sum, b: Sum) => (a.key < b.key ? -1 : 1);
  const byCost = (a: Sum, b: Sum) => b.total - a.total || byKey(a, b);
  return sums.sort(isOfTime(by) ? byKey : byCost).map(({ key, name, total, days }) => ({
    key,
    name: name.text,
    total,
    share: all > 0 ? total / all : null,
    days: days.size,
  }));
}

function sumsOf(rows: readonly CostRow[], by: Grouping, span: Span): Sum[] {
  const sums = new Map<string, Sum>();
  const parts = partsOf(by);
  for (const row of within(rows, span)) {
    for (const part of parts(row)) add(sums, part, row);
  }
  return [...sums.values()];
}

function add(sums: Map<string, Sum>, part: CostPart, { day }: CostRow): void {
  const name = { text: part.name, isOwn: part.isOwnName, day };
  const sum = sums.get(part.key) ?? { key: part.key, name, total: 0, days: new Set() };
  if (sum.days.size === 0) sums.set(part.key, sum);
  sum.total += part.amount;
  sum.days.add(day);
  if (isBetter(name, sum.name)) sum.name = name;
}

function isBetter(one: Sum['name'], than: Sum['name']): boolean {
  if (one.isOwn !== than.isOwn) return one.isOwn;
  return one.day === than.day ? one.text > than.text : one.day > than.day;
}

/** The part of a row that is added to one line. */
interface CostPart {
  readonly key: string;
  readonly name: string;
  /** Whether the row is of the entity itself. Its name is preferred to that in other rows. */
  readonly isOwnName: boolean;
  readonly amount: Micro;
}

type PartsOf = (row: CostRow) => readonly CostPart[];

type Line = Pick<CostPart, 'key' | 'name'>;

const PARTS: Readonly<Record<Grouping, () => PartsOf>> = {
  service: () => (row) => [servicePart(row)],
  warehouse: () => (row) => [warehousePart(row)],
  tag: () => (row) => [labelPart(row, 'tag')],
  team: () => (row) => [labelPart(row, 'team')],
  organization: () => (row) => [part(row, row.organization ?? '', row.organization ?? '')],
  day: () => ofTime((day) => ({ key: day, name: formatDay(day) })),
  week: () => ofTime(weekOf),
  month: () => ofTime((day) => ({ key: monthOf(day), name: formatMonth(day) })),
  metric: () => metricParts,
};

export function partsOf(by: Grouping): PartsOf {
  return PARTS[by]();
}

function part(row: CostRow, key: string, name: string, isOwnName = true): CostPart {
  return { key, name, isOwnName, amount: row.total };
}

function servicePart(row: CostRow): CostPart {
  const key = row.serviceId;
  if (key === null || row.kind === 'other') return part(row, entityKey(row), entityName(row));
  return row.kind === 'service' ? part(row, key, row.entityName) : part(row, key, key, false);
}

/** Storage and backups are billed to the warehouse and continue while every service is stopped. */
function entityName({ kind, entityName }: CostRow): string {
  return kind === 'warehouse' ? `warehouse ${entityName}: storage + backup` : entityName;
}

function warehousePart(row: CostRow): CostPart {
  const key = row.warehouseId;
  if (key === null) return part(row, 'no-warehouse', 'no warehouse named');
  return row.kind === 'warehouse' ? part(row, key, row.entityName) : part(row, key, key, false);
}

/** A service has one line: with several tags it would count more than once. */
function labelPart(row: CostRow, by: 'tag' | 'team'): CostPart {
  // No tag or team has a name like the latter: storage that several of them share has its own line.
  const other = row.kind === 'warehouse' ? 'warehouses: storage + backup' : 'not in signalbox.yaml';
  const name = row.labels?.[by] ?? other;
  return part(row, name, name);
}

const MOST_CACHED_DAYS = 400;

/** A report has thousands of rows of the same few days, so each day is formatted once. */
function ofTime(lineOf: (day: Day) => Line): PartsOf {
  const lineOn = cached(MOST_CACHED_DAYS, lineOf);
  return (row) => {
    const { key, name } = lineOn(row.day);
    return [part(row, key, name)];
  };
}

function weekOf(day: Day): Line {
  const monday = startOf('week', day);
  return { key: monday, name: `week of ${formatDay(monday)}` };
}

/** `computeCredits` → `compute`, `interRegionTier1DataTransferCredits` → `inter region tier 1 data transfer`. */
export function metricName(metric: string): string {
  const words = metric.replace(/Credits$/, '').split(/(?=[A-Z])|(?<=[a-z])(?=\d)/);
  return words.join(' ').toLowerCase();
}

/** What the metrics do not explain is a line too, so that the lines add up to the total. */
function metricParts(row: CostRow): readonly CostPart[] {
  const parts: CostPart[] = [];
  let rest = row.total;
  for (const metric in row.metrics) {
    const amount = row.metrics[metric] ?? 0;
    rest -= amount;
    parts.push({ key: metric, name: metricName(metric), isOwnName: true, amount });
  }
  if (rest === 0) return parts;
  const line = { key: 'rest', name: 'not broken down' };
  return [...parts, { ...line, isOwnName: true, amount: rest }];
}

/**
 * The lines of `sumBy` by day, week or month, with a line for each unit of the requested days. The
 * name of an incomplete unit shows its days. A unit with other rows only has a cost of 0; one without
 * any data has no days.
 * Source: docs/costs.md#day-states-and-locking.
 */
export function onCalendar(
  lines: readonly SummaryLine[],
  states: readonly DayState[],
  unit: TimeUnit,
): readonly SummaryLine[] {
  const known = new Map(lines.map((line) => [line.key, line]));
  const keyOf = (day: Day) => (unit === 'month' ? monthOf(day) : startOf(unit, day));
  const groups = Map.groupBy(states, ({ day }) => keyOf(day));
  return [...groups].map(([key, own]) => {
    const days = own.filter(({ state }) => state !== 'no-data').length;
    const share = days > 0 ? 0 : null;
    return { key, total: 0, share, days, ...known.get(key), name: unitName(key, own, unit) };
  });
}

/** Incomplete units show their days: `Nov 2026, 1–20`, `week of Mon 16 Nov, 16–19`. */
function unitName(key: string, own: readonly DayState[], unit: TimeUnit): string {
  const first = own[0]?.day ?? key;
  if (unit === 'day') return formatDay(first);
  const span = { first, last: own.at(-1)?.day ?? first };
  const [name, whole] =
    unit === 'week'
      ? [`week of ${formatDay(key)}`, 7]
      : [formatMonth(first), lengthOf(monthSpan(monthOf(first)))];
  return lengthOf(span) === whole ? name : `${name}, ${formatShortSpan(span)}`;
}

/**
 * The daily credits of the selected rows, in total or of one metric. A day with other rows only is 0.
 * A day without any row is absent, and so is one whose selected rows do not name the metric. A value is final when its whole day is, because rows may be added
 * until then. Source: docs/costs.md#day-states-and-locking.
 */
export function seriesOf(
  rows: readonly CostRow[],
  { metric, ...selector }: RowSelector & { readonly metric?: Metric },
  span: Span,
): readonly DayValue[] {
  const own = selectRows(rows, selector);
  const picked =
    metric === undefined ? own : own.map((row) => ({ ...row, total: row.metrics[metric] ?? 0 }));
  const isNamed = ({ metrics }: CostRow) => metric === undefined || metrics[metric] !== undefined;
  const named = new Set(own.filter(isNamed).map(({ day }) => day));
  const unknown = new Set(own.map(({ day }) => day)).difference(named);
  const series = seriesFrom(statesWithin(dayStates(rows, span), picked));
  return series.filter(({ day }) => !unknown.has(day));
}

/** The daily totals in credits, without the days that have no data. */
export function seriesFrom(states: readonly DayState[]): readonly DayValue[] {
  return states
    .filter(({ state }) => state !== 'no-data')
    .map(({ total, state, ...day }) => ({
      ...day,
      value: creditsOf(total),
      final: state === 'final',
    }));
}

/**
 * The series of all lines, in a single pass: with thousands of entities, separate series would read
 * every row thousands of times. A metric that a row does not name is 0.
 */
export function allSeries(rows: readonly CostRow[], by: Exclude<Grouping, TimeUnit>, span: Span) {
  const states = dayStates(rows, span);
  const parts = partsOf(by);
  const lines = new Map<string, Map<Day, Micro>>();
  for (const row of within(rows, span)) {
    for (const { key, amount } of parts(row)) {
      const sums = lines.get(key) ?? new Map<Day, Micro>();
      lines.set(key, sums.set(row.day, (sums.get(row.day) ?? 0) + amount));
    }
  }
  return [...lines]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, sums]) => ({ key, values: valuesOf(states, sums) }));
}

function valuesOf(states: readonly DayState[], sums: ReadonlyMap<Day, Micro>): readonly DayValue[] {
  return seriesFrom(states.map((state) => ({ ...state, total: sums.get(state.day) ?? 0 })));
}
