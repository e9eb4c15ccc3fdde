import type { Day } from '../calendar/day.ts';

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
 * What one entity cost on one UTC day. A warehouse is billed for storage and backups, a service for
 * compute and traffic, a pipe for compute and transfer; the rows of a day are disjoint, so that
 * their sum is what the day cost. A row that is not `locked` can still change, up or down.
 */
export interface CostRow {
  readonly day: Day;
  readonly entityId: string;
  readonly entityName: string;
  readonly kind: 'warehouse' | 'service' | 'pipe';
  /** Null in the rows of a warehouse. */
  readonly serviceId: string | null;
  readonly warehouseId: string | null;
  /** Only the metrics that the report named; one that is missing is not zero. */
  readonly metrics: Readonly<Partial<Record<Metric, Micro>>>;
  readonly total: Micro;
  readonly locked: boolean;
}

/** One value a day in credits; `final` once nothing of that day can change any more. */
export interface DayValue {
  readonly day: Day;
  readonly value: number;
  readonly final: boolean;
}
