import { z } from 'zod';
import { isRecord } from '../base/http-answer.ts';
import { figureOrNaN, MaybeSwitch, MaybeText, switchOf, textOf } from '../base/http-rows.ts';

export const API_METRICS = [
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

/** Null where a row has no value, which is not zero; NaN where the value is not a number. */
const Credits = z.unknown().optional().transform(figureOrNaN);

const Metrics = z.object(
  // The type of fromEntries loses the keys, so they are restored from the list above.
  Object.fromEntries(API_METRICS.map((name) => [name, Credits])) as Record<
    (typeof API_METRICS)[number],
    typeof Credits
  >,
);
const NO_METRICS = Metrics.parse({});

/**
 * The cost of one entity (warehouse, service or pipe) on one UTC day, in credits. `serviceId` is
 * null in the rows of a warehouse. A row that is not `locked` can still change.
 */
export const UsageCost = z.looseObject({
  dataWarehouseId: MaybeText,
  serviceId: MaybeText,
  date: MaybeText,
  entityId: MaybeText,
  entityName: MaybeText,
  entityType: MaybeText,
  metrics: z.preprocess((value) => value ?? {}, Metrics).catch(NO_METRICS),
  totalCredits: Credits,
  locked: MaybeSwitch,
});

export type UsageCost = z.infer<typeof UsageCost>;

export const KNOWN_FIELDS = Object.keys(UsageCost.shape);

/**
 * Same result as parsing with `UsageCost`, but faster: the schema blocks the event loop for about
 * half a second for a report of 62,000 rows.
 */
export function readUsageCost(row: Readonly<Record<string, unknown>>): UsageCost {
  // Spreading `__proto__` would set the prototype of the copy; the schema omits this key.
  if (Object.hasOwn(row, '__proto__')) return UsageCost.parse(row);
  return {
    ...row,
    dataWarehouseId: textOf(row.dataWarehouseId),
    serviceId: textOf(row.serviceId),
    date: textOf(row.date),
    entityId: textOf(row.entityId),
    entityName: textOf(row.entityName),
    entityType: textOf(row.entityType),
    metrics: readMetrics(row.metrics),
    totalCredits: figureOrNaN(row.totalCredits),
    locked: switchOf(row.locked),
  };
}

function readMetrics(value: unknown): typeof NO_METRICS {
  const source = isRecord(value) ? value : {};
  const metrics = { ...NO_METRICS };
  for (const name of API_METRICS) metrics[name] = figureOrNaN(source[name]);
  return metrics;
}
