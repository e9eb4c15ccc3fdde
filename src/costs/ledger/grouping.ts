import type { TimeUnit } from '../calendar/bucket.ts';
import { monthOf, startOf } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import { dayLabel, monthLabel } from '../calendar/span-label.ts';
import { type CostRow, METRICS, type Metric, type Micro, microOf } from './row.ts';

/** By what rows are put together into lines; `entity-metric`: one line per metric of an entity. */
export const GROUPINGS = [
  'service',
  'entity',
  'warehouse',
  'day',
  'metric',
  'week',
  'month',
] as const;
export type By = (typeof GROUPINGS)[number] | 'entity-metric';

/** What a row adds to one line. */
export interface CostPart {
  readonly key: string;
  readonly name: string;
  /** An entity's own row knows its name better than that of something within it. */
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

/** Below this a total and its metrics differ by rounding only. */
const ROUNDING: Micro = microOf(0.005);

type PartsOf = (row: CostRow) => readonly CostPart[];

const PARTS: Readonly<Record<By, () => PartsOf>> = {
  service: () => (row) => [servicePart(row)],
  entity: () => (row) => [part(row, row.entityId, entityName(row))],
  warehouse: () => (row) => [warehousePart(row)],
  day: () => ofTime((day) => ({ key: day, name: dayLabel(day) })),
  week: () => ofTime(weekOf),
  month: () => ofTime((day) => ({ key: monthOf(day), name: monthLabel(day) })),
  metric: () => metricParts,
  'entity-metric': () => entityMetricParts,
};

export function partsOf(by: By): PartsOf {
  return PARTS[by]();
}

/** Lines of time are read in the order of time, all others from the dearest down. */
export function isOfTime(by: By): by is TimeUnit {
  return by === 'day' || by === 'week' || by === 'month';
}

function part(row: CostRow, key: string, name: string, isOwnName = true): CostPart {
  return { key, name, isOwnName, amount: row.total };
}

/** A warehouse pays for storage and backups itself: they go on when every service is stopped. */
function entityName({ kind, entityName }: CostRow): string {
  return kind === 'warehouse' ? `warehouse ${entityName}: storage + backup` : entityName;
}

function servicePart(row: CostRow): CostPart {
  const key = row.serviceId;
  if (key === null) return part(row, row.entityId, entityName(row));
  return row.kind === 'service' ? part(row, key, row.entityName) : part(row, key, key, false);
}

function warehousePart(row: CostRow): CostPart {
  const key = row.warehouseId;
  if (key === null) return part(row, 'no-warehouse', 'no warehouse named');
  return row.kind === 'warehouse' ? part(row, key, row.entityName) : part(row, key, key, false);
}

/** A report has thousands of rows of the same few days, and each day is looked into once. */
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
  return { key: monday, name: `week of ${dayLabel(monday)}` };
}

/** What the metrics leave unexplained is a line too, so that the lines add up to the total. */
function metricParts(row: CostRow): readonly CostPart[] {
  const parts: CostPart[] = [];
  let rest = row.total;
  for (const metric of METRICS) {
    const amount = row.metrics[metric];
    if (amount === undefined) continue;
    rest -= amount;
    parts.push({ key: metric, name: METRIC_NAMES[metric], isOwnName: true, amount });
  }
  if (Math.abs(rest) <= ROUNDING) return parts;
  return [...parts, { key: 'rest', name: 'not broken down', isOwnName: true, amount: rest }];
}

function entityMetricParts(row: CostRow): readonly CostPart[] {
  return metricParts(row).map(({ key, name, ...rest }) => ({
    ...rest,
    key: `${row.entityId} ${key}`,
    name: `${row.entityName} · ${name}`,
  }));
}
