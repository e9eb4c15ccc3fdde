import { randomFraction, SEED } from '../api/random.ts';
import type { UsageSeed } from '../seed/shapes.ts';
import { isLocked, reportedShare } from './cost-locking.ts';
import { addDays, dayNumber, dayOf, daysBetween, shareOfDay, startOf } from './days.ts';
import type { CloudState, PipeRecord, ServiceRecord, WarehouseRecord } from './state.ts';

export interface UsageRow {
  readonly entityType: 'datawarehouse' | 'service' | 'pipe';
  readonly dataWarehouseId: string;
  readonly serviceId: string | null;
  readonly date: string;
  readonly entityId: string;
  readonly entityName: string;
  readonly metrics: Readonly<Record<string, number>>;
  readonly totalCredits: number;
  readonly locked: boolean;
}

type UsageBase = Omit<UsageRow, 'date' | 'totalCredits' | 'locked'>;

const HISTORY_DAYS = 90;
/** The age of a day without data. */
const EMPTY_DAYS_AGO = 47;
/** As remainders of a day's number: 1 January 1970 was a Thursday. */
const [SATURDAY, SUNDAY] = [2, 3] as const;

/** The rows of one UTC day for the current report; empty when the day has no data. */
export function usageOf(cloud: CloudState, day: string): readonly UsageRow[] {
  const today = dayOf(cloud.now());
  const first = dayOf(addDays(cloud.bornAt, -HISTORY_DAYS));
  const empty = dayOf(addDays(cloud.bornAt, -EMPTY_DAYS_AGO));
  if (day < first || day === empty) return [];
  const rows = [
    ...[...cloud.warehouses.values()].flatMap((one) => warehouseUsage(cloud, one, day)),
    ...[...cloud.services.values()].map((one) => serviceUsage(cloud, one, day)),
    ...[...cloud.pipes.values()].flatMap((one) => pipeUsage(cloud, one, day)),
  ];
  return rows.flatMap((row) => finishedRow(cloud, row, day, today));
}

function finishedRow(cloud: CloudState, row: UsageBase, date: string, today: string): UsageRow[] {
  const { costLocking } = cloud.behaviour;
  const key = { entityId: row.entityId, day: date };
  const locked = isLocked(costLocking, key, today);
  const share = date < today ? 1 : shareOfDay(date, new Date(0), cloud.now());
  const reported = locked ? 1 : reportedShare(costLocking, key, { today, reads: cloud.costReads });
  const factor = share * reported;
  const metrics: Record<string, number> = {};
  let sum = 0;
  for (const [name, value] of Object.entries(row.metrics)) {
    metrics[name] = round(value * factor);
    sum += metrics[name];
  }
  const totalCredits = round(sum);
  return totalCredits === 0 ? [] : [{ ...row, date, metrics, totalCredits, locked }];
}

function warehouseUsage(cloud: CloudState, warehouse: WarehouseRecord, day: string): UsageBase[] {
  if (day < dayOf(warehouse.createdAt)) return [];
  const { storage, backup } = warehouse.dailyCredits;
  // The data grows by half a percent of the initial size each day.
  const growth = 1 + 0.005 * daysBetween(cloud.bornAt, new Date(startOf(day)));
  const variation = 0.99 + 0.02 * randomFraction(SEED, warehouse.id, day);
  const metrics = {
    storageCredits: storage * growth * variation,
    backupCredits: backup * growth * variation,
  };
  return [rowOf('datawarehouse', warehouse, { warehouseId: warehouse.id, id: null }, metrics)];
}

function rowOf(
  entityType: UsageBase['entityType'],
  { id: entityId, name: entityName }: { readonly id: string; readonly name: string },
  of: { readonly warehouseId: string; readonly id: string | null },
  metrics: UsageBase['metrics'],
): UsageBase {
  const { warehouseId: dataWarehouseId, id: serviceId } = of;
  return { entityType, dataWarehouseId, serviceId, entityId, entityName, metrics };
}

function serviceUsage(cloud: CloudState, service: ServiceRecord, day: string): UsageBase {
  const { usage } = service;
  const factor = dayFactor(cloud, service.id, usage, day) * shareUp(service, day);
  const size = averageSize(service, day);
  const transfer = usage.transferCredits * factor;
  return rowOf('service', { id: service.id, name: nameOn(cloud, service, day) }, service, {
    computeCredits: usage.computeCredits * factor * size,
    publicDataTransferCredits: transfer * 0.7,
    interRegionTier1DataTransferCredits: transfer * 0.3,
  });
}

function pipeUsage(cloud: CloudState, pipe: PipeRecord, day: string): UsageBase[] {
  const service = cloud.services.get(pipe.serviceId);
  if (service === undefined) return [];
  const { compute, transfer } = pipe.dailyCredits;
  const up = shareUp(service, day);
  const factor = up * dayFactor(cloud, pipe.id, { rhythm: service.usage.rhythm }, day);
  const metrics = { computeCredits: compute * factor, dataTransferCredits: transfer * factor };
  return [rowOf('pipe', pipe, service, metrics)];
}

type UsagePattern = Pick<UsageSeed, 'rhythm' | 'spike' | 'shift'>;

function dayFactor(cloud: CloudState, id: string, shape: UsagePattern, day: string): number {
  const { rhythm, spike, shift } = shape;
  const daysAgo = dayNumber(dayOf(cloud.bornAt)) - dayNumber(day);
  const weekday = dayNumber(day) % 7;
  const isWeekend = weekday === SATURDAY || weekday === SUNDAY;
  const week = rhythm === 'office' && isWeekend ? 0.35 : 1;
  const peak = spike?.daysAgo === daysAgo ? spike.factor : 1;
  const level = shift !== undefined && daysAgo <= shift.daysAgo ? shift.factor : 1;
  return week * peak * level * (0.9 + 0.2 * randomFraction(SEED, id, day));
}

/** The share of the day, from 0 to 1, in which the service existed and was not stopped. */
function shareUp({ createdAt, pauses }: ServiceRecord, day: string): number {
  const paused = pauses.reduce((sum, { from, until }) => sum + shareOfDay(day, from, until), 0);
  return Math.max(0, shareOfDay(day, createdAt, null) - paused);
}

/** The size over the day, relative to that of the seed. */
function averageSize({ sizes }: ServiceRecord, day: string): number {
  return sizes.reduce((size, { from, factor }, index) => {
    const before = sizes[index - 1]?.factor ?? 1;
    return size + (factor - before) * shareOfDay(day, from, null);
  }, 1);
}

function nameOn(cloud: CloudState, { name, usage }: ServiceRecord, day: string): string {
  if (usage.renamed === undefined) return name;
  const since = dayOf(addDays(cloud.bornAt, -usage.renamed.daysAgo));
  return day < since ? usage.renamed.from : name;
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
