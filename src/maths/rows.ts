import { cleanText } from '../base/text.ts';
import type { Day } from '../base/time.ts';
import type { DayPrice } from './money.ts';

// The rows and days of the usage report in whole millionths of a credit, and the entity of a row.

/** The figures of a row, as the usage report names them. */
export const METRICS = [
  'storageCredits',
  'backupCredits',
  'computeCredits',
  'dataTransferCredits',
  'initialLoadCredits',
  'publicDataTransferCredits',
  'interRegionTier1DataTransferCredits',
  'interRegionTier2DataTransferCredits',
  'interRegionTier3DataTransferCredits',
  'interRegionTier4DataTransferCredits',
] as const;
export type Metric = (typeof METRICS)[number];

/** Millionths of a credit, whole: sums of them are exact, sums of credits are not. */
export type Micro = number;

const MICRO = 1_000_000;

export function microOf(credits: number): Micro {
  return Math.round(credits * MICRO);
}

export function creditsOf(micro: Micro): number {
  return micro / MICRO;
}

/** The report rounds to a hundredth of a credit, so a smaller difference between figures is rounding. */
export const REPORT_ROUNDING = microOf(0.005);

/**
 * The cost of one entity on one UTC day. A warehouse is billed for storage and backups, a service for
 * compute and traffic, a pipe for compute and transfer. The rows of a day are disjoint, and their sum
 * is the cost of the day. A row that is not `locked` can still change, up or down.
 */
export interface CostRow {
  readonly day: Day;
  readonly entityId: string;
  readonly entityName: string;
  /** `other`: a type that Signalbox does not know; its name has the type. */
  readonly kind: 'warehouse' | 'service' | 'pipe' | 'other';
  /** Null for a warehouse. */
  readonly serviceId: string | null;
  readonly warehouseId: string | null;
  /** Only the metrics in the report, unknown ones as well; a missing one is unknown, not 0. */
  readonly metrics: Readonly<Record<string, Micro>>;
  readonly total: Micro;
  readonly locked: boolean;
  /** The tags and the team of its service, in reports by tag or team. */
  readonly labels?: { readonly tag: string; readonly team: string };
  /** What is known about the day of the row while it is not final; all its rows have the same. */
  readonly openDay?: OpenDay;
  /** The name of its organization; absent where there is only one. */
  readonly organization?: string;
  /** The price of a credit on the day; absent without `costs.price`, and before its first day. */
  readonly price?: DayPrice;
}

/** The key of an entity. A warehouse and one of its services may have the same id. */
export function entityKey({ kind, entityId }: Pick<CostRow, 'kind' | 'entityId'>): string {
  return kind === 'service' ? entityId : `${kind} ${entityId}`;
}

/** The credits of one day; `final` if they cannot change any more. */
export interface DayValue {
  readonly day: Day;
  readonly value: number;
  readonly final: boolean;
  /** For a day that is not final: what is known about it. */
  readonly openDay?: OpenDay | undefined;
  readonly price?: DayPrice | undefined;
}

/** What the reads so far show about a day that is not final. */
export interface OpenDay {
  /** Whole UTC days since the day: 1 on the following one. */
  readonly age: number;
  /** Null until a second daily read shows it, and for today. */
  readonly completeness: Completeness | null;
}

/** How much of their final cost the days of one age have. */
export interface Completeness {
  /** Above 1 where totals fall. */
  readonly share: number;
  /** The relative standard error of `value / share`. */
  readonly error: number;
  /** The part of the error that all these days have in common: the share is learned from few ratios. */
  readonly common: number;
}

interface ReportedEntity {
  readonly entityName: string | null;
  readonly entityType: string | null;
  readonly entityId: string | null;
  readonly serviceId: string | null;
  readonly dataWarehouseId: string | null;
  readonly metrics: Readonly<Record<string, number | null>> | null;
}

type Entity = Pick<CostRow, 'entityId' | 'entityName' | 'kind' | 'serviceId' | 'warehouseId'>;

/** The entity of a row. Without a known type, the ids and metrics of the row show its kind. */
export function entityOf(row: ReportedEntity, entityId: string): Entity {
  const kind = kindOf(row);
  const ownName = nameOf(row.entityName ?? '') || nameOf(entityId);
  const entityName =
    kind === 'other' ? `${nameOf(row.entityType ?? '')} ${ownName}`.trim() : ownName;
  const { dataWarehouseId, serviceId } = row;
  if (kind === 'warehouse') {
    return {
      entityId,
      entityName,
      kind,
      serviceId: null,
      warehouseId: dataWarehouseId ?? entityId,
    };
  }
  const service = kind === 'service' ? (serviceId ?? entityId) : serviceId;
  return { entityId, entityName, kind, serviceId: service, warehouseId: dataWarehouseId };
}

function kindOf(row: ReportedEntity): CostRow['kind'] {
  const type = row.entityType?.toLowerCase() ?? '';
  if (type.includes('warehouse')) return 'warehouse';
  if (type.includes('pipe')) return 'pipe';
  if (type === 'service') return 'service';
  return type === '' ? kindShownBy(row) : 'other';
}

/** A service may have the id of its warehouse: then its metrics decide. */
function kindShownBy({ entityId, serviceId, dataWarehouseId, metrics }: ReportedEntity) {
  const isOfWarehouse = (metrics?.storageCredits ?? 0) + (metrics?.backupCredits ?? 0) !== 0;
  if (entityId === dataWarehouseId && (entityId !== serviceId || isOfWarehouse)) return 'warehouse';
  if (entityId === serviceId) return 'service';
  if (serviceId !== null) return 'pipe';
  return isOfWarehouse ? 'warehouse' : 'other';
}

const NAME_MAX = 100;

/** The name as one visible line; most are one already, and a report has many thousand of them. */
function nameOf(name: string): string {
  const isPlain = name.length <= NAME_MAX && /^[!-~](?:[ -~]*[!-~])?$/.test(name);
  return isPlain ? name : cleanText(name, NAME_MAX);
}
