import { z } from 'zod';
import { isRecord } from '../http/answer.ts';
import { figureOf, MaybeSwitch, MaybeText, switchOf, textOf } from '../http/tolerance.ts';

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

/** Null where a row does not tell it, which is not zero; NaN where it tells what is no number. */
const Credits = z.unknown().optional().transform(figureOf);

const Metrics = z.object(
  // fromEntries forgets which keys it was given; the list above has them.
  Object.fromEntries(API_METRICS.map((name) => [name, Credits])) as Record<
    (typeof API_METRICS)[number],
    typeof Credits
  >,
);
const NO_METRICS = Metrics.parse({});

/**
 * What one entity (a warehouse, service or pipe) cost on one UTC day, in credits. `serviceId` is
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
 * What `UsageCost` makes of an object, without the schema: a report has a row for each entity and
 * day, and through the schema 62,000 of them hold up everything else for nearly half a second.
 */
export function readUsageCost(row: Readonly<Record<string, unknown>>): UsageCost {
  // A key of that name says what a copy is, not what it holds: the schema leaves it out.
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
    totalCredits: figureOf(row.totalCredits),
    locked: switchOf(row.locked),
  };
}

function readMetrics(value: unknown): typeof NO_METRICS {
  const told = isRecord(value) ? value : {};
  const metrics = { ...NO_METRICS };
  for (const name of API_METRICS) metrics[name] = figureOf(told[name]);
  return metrics;
}
