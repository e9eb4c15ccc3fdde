import { formatDay, formatMonth, monthOf, startOf } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import type { TimeUnit } from '../calendar/bucket.ts';
import { type CostRow, entityKey, METRICS, type Metric, type Micro, microOf } from './row.ts';

/** How rows are grouped into lines; `entity-metric`: one line per metric of an entity. */
export const GROUPINGS = [
  'service',
  'entity',
  'warehouse',
  'day',
  'metric',
  'week',
  'month',
  'tag',
  'team',
] as const;
export type Grouping = (typeof GROUPINGS)[number];
export type By = Grouping | 'entity-metric';

/** The part of a row that is added to one line. */
export interface CostPart {
  readonly key: string;
  readonly name: string;
  /** Whether the row is of the entity itself. Its name is preferred to that in other rows. */
  readonly isOwnName: boolean;
  readonly amount: Micro;
}

type Line = Pick<CostPart, 'key' | 'name'>;

export const METRIC_NAMES: Readonly<Record<Metric, string>> = {
  storageCredits: 'storage',
  backupCredits: 'backup',
  computeCredits: 'compute',
  dataTransferCredits: 'data transfer',
  initialLoadCredits: 'initial load',
  publicDataTransferCredits: 'public transfer',
  interRegionTier1DataTransferCredits: 'inter-region transfer, tier 1',
  interRegionTier2DataTransferCredits: 'inter-region transfer, tier 2',
  interRegionTier3DataTransferCredits: 'inter-region transfer, tier 3',
  interRegionTier4DataTransferCredits: 'inter-region transfer, tier 4',
};

/** A smaller difference between a total and its metrics is rounding. */
const ROUNDING: Micro = microOf(0.005);

type PartsOf = (row: CostRow) => readonly CostPart[];

const PARTS: Readonly<Record<By, () => PartsOf>> = {
  service: () => (row) => [servicePart(row)],
  entity: () => (row) => [part(row, entityKey(row), entityName(row))],
  warehouse: () => (row) => [warehousePart(row)],
  tag: () => (row) => [labelPart(row, 'tag')],
  team: () => (row) => [labelPart(row, 'team')],
  day: () => ofTime((day) => ({ key: day, name: formatDay(day) })),
  week: () => ofTime(weekOf),
  month: () => ofTime((day) => ({ key: monthOf(day), name: formatMonth(day) })),
  metric: () => metricParts,
  'entity-metric': () => entityMetricParts,
};

export function partsOf(by: By): PartsOf {
  return PARTS[by]();
}

/** Whether lines are ordered by time; all others are ordered by cost. */
export function isOfTime(by: By): by is TimeUnit {
  return by === 'day' || by === 'week' || by === 'month';
}

function part(row: CostRow, key: string, name: string, isOwnName = true): CostPart {
  return { key, name, isOwnName, amount: row.total };
}

/** Storage and backups are billed to the warehouse and continue while every service is stopped. */
function entityName({ kind, entityName }: CostRow): string {
  return kind === 'warehouse' ? `warehouse ${entityName}: storage + backup` : entityName;
}

function servicePart(row: CostRow): CostPart {
  const key = row.serviceId;
  if (key === null) return part(row, entityKey(row), entityName(row));
  return row.kind === 'service' ? part(row, key, row.entityName) : part(row, key, key, false);
}

function warehousePart(row: CostRow): CostPart {
  const key = row.warehouseId;
  if (key === null) return part(row, 'no-warehouse', 'no warehouse named');
  return row.kind === 'warehouse' ? part(row, key, row.entityName) : part(row, key, key, false);
}

/** A service has one line: with several tags it would count more than once. */
function labelPart(row: CostRow, by: 'tag' | 'team'): CostPart {
  const own = row.labels?.[by] ?? 'not in signalbox.yaml';
  // No tag or team has a name like this, so that the storage is a line of its own.
  const name = row.kind === 'warehouse' ? 'warehouses: storage + backup' : own;
  return part(row, name, name);
}

/** A report has thousands of rows of the same few days, so each day is formatted once. */
function ofTime(lineOf: (day: Day) => Line): PartsOf {
  const lines = new Map<Day, Line>();
  return (row) => {
    const line = lines.get(row.day) ?? lineOf(row.day);
    lines.set(row.day, line);
    return [part(row, line.key, line.name)];
  };
}

function weekOf(day: Day): Line {
  const monday = startOf('week', day);
  return { key: monday, name: `week of ${formatDay(monday)}` };
}

/** What the metrics do not explain is a line too, so that the lines add up to the total. */
function metricParts(row: CostRow): readonly CostPart[] {
  const parts: CostPart[] = [];
  let rest = row.total;
  for (const metric of METRICS) {
    const amount = row.metrics[metric];
    if (amount === undefined) continue;
    rest -= amount;
    parts.push({ key: metric, name: METRIC_NAMES[metric], isOwnName: true, amount });
  }
  if (rest === 0) return parts;
  const isRounding = Math.abs(rest) <= ROUNDING;
  const line = isRounding
    ? { key: 'rounding', name: 'rounding' }
    : { key: 'rest', name: 'not broken down' };
  return [...parts, { ...line, isOwnName: true, amount: rest }];
}

/** Rounding is left out: a line of it for each entity has no meaning. */
function entityMetricParts(row: CostRow): readonly CostPart[] {
  const parts = metricParts(row).filter(({ key }) => key !== 'rounding');
  return parts.map(({ key, name, ...rest }) => ({
    ...rest,
    key: `${entityKey(row)} ${key}`,
    name: `${row.entityName} · ${name}`,
  }));
}
