import type { Day } from '../../base/time.ts';
import { type Money, moneyOf } from '../money/money.ts';
import type { DayPrice } from '../money/price.ts';

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

/**
 * The cost of one entity on one UTC day. A warehouse is billed for storage and backups, a service for
 * compute and traffic, a pipe for compute and transfer. The rows of a day are disjoint, and their sum
 * is the cost of the day. A row that is not `locked` can still change, up or down.
 */
export interface CostRow {
  readonly day: Day;
  readonly entityId: string;
  readonly entityName: string;
  readonly kind: 'warehouse' | 'service' | 'pipe';
  /** Null for a warehouse. */
  readonly serviceId: string | null;
  readonly warehouseId: string | null;
  /** Only the metrics in the report; a missing one is unknown, not 0. */
  readonly metrics: Readonly<Partial<Record<Metric, Micro>>>;
  readonly total: Micro;
  readonly locked: boolean;
  /** The tags and the team of its service, in reports by tag or team. */
  readonly labels?: { readonly tag: string; readonly team: string };
  /** What is known about the day of the row while it is not final; all its rows have the same. */
  readonly openDay?: OpenDay;
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

/** Null without a price for the day. */
export function moneyOfDay({ value, price }: Pick<DayValue, 'value' | 'price'>): Money | null {
  return moneyOf([[price, microOf(value)]]);
}

/** What the snapshots show about a day that is not final. */
export interface OpenDay {
  /** Statistics use a settled day like a final one. It is not locked, so it can still change. */
  readonly settled: boolean;
  /** How complete days are at the age of this one; null until that is learned. */
  readonly completion: Completion | null;
}

/** The share of the final total that days have at one age; above 1 where totals fall. */
export interface Completion {
  /** The median. */
  readonly typical: number;
  /** The 90th percentile: dividing by it overstates one of ten days. */
  readonly high: number;
  /** The number of final days with a known value at that age. */
  readonly days: number;
}
