import { randomFraction } from '../api/random.ts';
import type { UsageSeed } from '../seed/shapes.ts';
import { addDays, dayOf, daysBetween, shareOfDay, startOf } from './days.ts';
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

type Drawn = Omit<UsageRow, 'date' | 'totalCredits' | 'locked'>;

const HISTORY_DAYS = 90;
/** Whole days behind today that may still change, beside today itself. */
const OPEN_DAYS = 2;
/** A day on which nothing was measured. */
const EMPTY_DAYS_AGO = 47;

/** The rows of one UTC day as they stand at this read, or none. */
export function usageOf(cloud: CloudState, day: string): readonly UsageRow[] {
  const today = dayOf(cloud.now());
  const first = dayOf(addDays(cloud.bornAt, -HISTORY_DAYS));
  const empty = dayOf(addDays(cloud.bornAt, -EMPTY_DAYS_AGO));
  if (day < first || day === empty) return [];
  const locked = daysBetween(startOf(day), startOf(today)) > OPEN_DAYS;
  const rows = [
    ...[...cloud.warehouses.values()].flatMap((one) => warehouseUsage(cloud, one, day)),
    ...[...cloud.services.values()].flatMap((one) => serviceUsage(cloud, one, day)),
    ...[...cloud.pipes.values()].flatMap((one) => pipeUsage(cloud, one, day)),
  ];
  return rows.flatMap((row) => finished(cloud, row, day, locked));
}

function finished(cloud: CloudState, row: Drawn, date: string, locked: boolean): UsageRow[] {
  const share = shareOfDay(date, startOf(date), cloud.now());
  const factor = share * (locked ? 1 : drift(cloud, row.entityId, date));
  const metrics = Object.fromEntries(
    Object.entries(row.metrics).map(([name, value]) => [name, round(value * factor)]),
  );
  const totalCredits = round(Object.values(metrics).reduce((sum, value) => sum + value, 0));
  return totalCredits === 0 ? [] : [{ ...row, date, metrics, totalCredits, locked }];
}

// Figures that are not final come nearer to their end with every read, most from below, some from
// above. Once locked they are what they would have become.
function drift(cloud: CloudState, entityId: string, day: string): number {
  const away = randomFraction(cloud.seed, 'drift', entityId, day) * 0.3 - 0.06;
  return 1 - away * 0.85 ** cloud.costReads;
}

function warehouseUsage(cloud: CloudState, warehouse: WarehouseRecord, day: string): Drawn[] {
  if (day < dayOf(warehouse.createdAt)) return [];
  const { storage, backup } = warehouse.dailyCredits;
  // Data grows: half a percent of today's size each day.
  const growth = 1 + 0.005 * daysBetween(cloud.bornAt, startOf(day));
  const wobble = 0.99 + 0.02 * randomFraction(cloud.seed, warehouse.id, day);
  return [
    {
      entityType: 'datawarehouse',
      dataWarehouseId: warehouse.id,
      serviceId: null,
      entityId: warehouse.id,
      entityName: warehouse.name,
      metrics: {
        storageCredits: storage * growth * wobble,
        backupCredits: backup * growth * wobble,
      },
    },
  ];
}

function serviceUsage(cloud: CloudState, service: ServiceRecord, day: string): Drawn[] {
  const { usage } = service;
  const factor = ofDay(cloud, service.id, usage, day) * shareUp(service, day);
  const transfer = usage.transferCredits * factor;
  return [
    {
      entityType: 'service',
      dataWarehouseId: service.warehouseId,
      serviceId: service.id,
      entityId: service.id,
      entityName: nameOn(cloud, service, day),
      metrics: {
        computeCredits: usage.computeCredits * factor,
        publicDataTransferCredits: transfer * 0.7,
        interRegionTier1DataTransferCredits: transfer * 0.3,
      },
    },
  ];
}

function pipeUsage(cloud: CloudState, pipe: PipeRecord, day: string): Drawn[] {
  const service = cloud.services.get(pipe.serviceId);
  if (service === undefined) return [];
  const { compute, transfer } = pipe.dailyCredits;
  const up = shareUp(service, day);
  const factor = up * ofDay(cloud, pipe.id, { rhythm: service.usage.rhythm }, day);
  return [
    {
      entityType: 'pipe',
      dataWarehouseId: service.warehouseId,
      serviceId: service.id,
      entityId: pipe.id,
      entityName: pipe.name,
      metrics: { computeCredits: compute * factor, dataTransferCredits: transfer * factor },
    },
  ];
}

type Shape = Pick<UsageSeed, 'rhythm' | 'spike' | 'shift'>;

function ofDay(cloud: CloudState, id: string, shape: Shape, day: string): number {
  const { rhythm, spike, shift } = shape;
  const daysAgo = Math.round(daysBetween(startOf(day), startOf(dayOf(cloud.bornAt))));
  const weekday = startOf(day).getUTCDay();
  const isWeekend = weekday === 0 || weekday === 6;
  const week = rhythm === 'office' && isWeekend ? 0.35 : 1;
  const peak = spike?.daysAgo === daysAgo ? spike.factor : 1;
  const level = shift !== undefined && daysAgo <= shift.daysAgo ? shift.factor : 1;
  return week * peak * level * (0.9 + 0.2 * randomFraction(cloud.seed, id, day));
}

/** How much of the day the service existed and was not stopped. */
function shareUp({ createdAt, pauses }: ServiceRecord, day: string): number {
  const end = addDays(startOf(day), 1);
  const paused = pauses.map(({ from, until }) => shareOfDay(day, from, until ?? end));
  return Math.max(0, shareOfDay(day, createdAt, end) - paused.reduce((sum, one) => sum + one, 0));
}

function nameOn(cloud: CloudState, { name, usage }: ServiceRecord, day: string): string {
  if (usage.renamed === undefined) return name;
  const since = dayOf(addDays(cloud.bornAt, -usage.renamed.daysAgo));
  return day < since ? usage.renamed.from : name;
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
