import { z } from 'zod';
import { ApiError } from '../errors.ts';
import { MaybeNumber, MaybeSwitch, MaybeText } from '../http/tolerance.ts';
import type { UsagePeriod } from './schema.ts';

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

// A metric that a row does not have is not zero, so the missing ones stay null.
const Metrics = z.object(
  // fromEntries forgets which keys it was given; the list above has them.
  Object.fromEntries(METRICS.map((name) => [name, MaybeNumber])) as Record<
    (typeof METRICS)[number],
    typeof MaybeNumber
  >,
);

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
  metrics: z.preprocess((value) => value ?? {}, Metrics).catch(Metrics.parse({})),
  totalCredits: MaybeNumber,
  locked: MaybeSwitch,
});

const KNOWN_FIELDS = Object.keys(UsageCost.shape);

/** The contract describes one object, live servers send a list, and both may be missing. */
const Costs = z.preprocess((value) => {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return value ?? [];
  return KNOWN_FIELDS.some((field) => field in value) ? [value] : [];
}, z.array(UsageCost));

export const UsageCosts = z.looseObject({ grandTotalCredits: MaybeNumber, costs: Costs });

export type UsageCost = z.infer<typeof UsageCost>;
export type UsageCosts = z.infer<typeof UsageCosts>;

/**
 * The contract wants the days as date-times, and a server was seen that accepts bare dates only. A
 * 400 that quotes the value back is the sign of it; once a date was accepted, dates it is.
 */
export function createDateDialect() {
  let bare = false;

  return async function inDialect<T>(
    { from_date, to_date }: UsagePeriod,
    ask: (query: Record<string, string>) => Promise<T>,
  ): Promise<T> {
    const dates = { from_date, to_date };
    if (bare) return ask(dates);
    const instants = { from_date: `${from_date}T00:00:00Z`, to_date: `${to_date}T00:00:00Z` };
    try {
      return await ask(instants);
    } catch (error) {
      if (!quotes(error, Object.values(instants))) throw error;
      const answer = await ask(dates);
      bare = true;
      return answer;
    }
  };
}

function quotes(error: unknown, values: readonly string[]): boolean {
  if (!(error instanceof ApiError) || error.status !== 400) return false;
  return values.some((value) => error.serverText?.includes(value));
}
