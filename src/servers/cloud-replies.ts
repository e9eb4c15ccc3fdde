import { z } from 'zod';
import { Secret } from '../base/errors.ts';
import { isRecord } from '../base/http-answer.ts';
import {
  figureOrNaN,
  MaybeNumber,
  MaybeRecord,
  MaybeRecords,
  MaybeSwitch,
  MaybeText,
  MaybeTexts,
  SentNumber,
  switchOf,
  textOf,
  tolerant,
} from '../base/http-rows.ts';

/**
 * The replies of the cloud API. Every field may be null. Unknown fields pass through. Live servers
 * send some fields that the contract omits, above all `state`.
 */

/** The scaling that is applied now, each value with the unit of the requested one. */
const CurrentScaling = z.looseObject({
  effectiveAutoscalingMode: MaybeText,
  effectiveMinReplicaMemoryGb: MaybeNumber,
  effectiveMaxReplicaMemoryGb: MaybeNumber,
  effectiveMinReplicas: MaybeNumber,
  effectiveMaxReplicas: MaybeNumber,
  effectiveIdleScaling: MaybeSwitch,
  effectiveIdleTimeoutMinutes: MaybeNumber,
  /** The entry of the schedule that overrides the requested values. */
  activeEntryId: MaybeText,
});

/** Memory in GB per replica, the idle timeout in minutes, times as ISO 8601. */
export const CloudService = z.looseObject({
  id: MaybeText,
  name: MaybeText,
  engineVersion: MaybeText,
  endpoints: MaybeRecords,
  minTotalMemoryGb: MaybeNumber,
  maxTotalMemoryGb: MaybeNumber,
  minReplicaMemoryGb: MaybeNumber,
  maxReplicaMemoryGb: MaybeNumber,
  numReplicas: MaybeNumber,
  idleScaling: MaybeSwitch,
  idleTimeoutMinutes: MaybeNumber,
  ipAccessList: MaybeRecords,
  createdAt: MaybeText,
  encryptionKey: MaybeText,
  encryptionAssumedRoleIdentifier: MaybeText,
  iamRole: MaybeText,
  privateEndpointIds: MaybeTexts,
  availablePrivateEndpointIds: MaybeTexts,
  dataWarehouseId: MaybeText,
  isPrimary: MaybeSwitch,
  isReadonly: MaybeSwitch,
  byocId: MaybeText,
  hasTransparentDataEncryption: MaybeSwitch,
  transparentDataEncryptionKeyId: MaybeText,
  encryptionRoleId: MaybeText,
  // Sent by live servers, but not in the contract.
  state: MaybeText,
  provider: MaybeText,
  region: MaybeText,
  tier: MaybeText,
  releaseChannel: MaybeText,
  profile: MaybeText,
  complianceType: MaybeText,
  /** `vertical`: a fixed number of replicas. `horizontal`: a range of replicas of one size. */
  autoscalingMode: MaybeText,
  minReplicas: MaybeNumber,
  maxReplicas: MaybeNumber,
  replicaMemoryGb: MaybeNumber,
  /** The values above are the requested ones; these are applied now. */
  currentScaling: tolerant(CurrentScaling),
  scalingSchedule: tolerant(z.looseObject({ entries: MaybeRecords })),
});

const Password = z
  .string()
  .min(1)
  .transform((value) => new Secret(value))
  .nullish()
  .transform((value) => value ?? null)
  .catch(null);

/** Strict on purpose: an unknown field next to the password could be another secret. */
export const CreatedService = z.object({
  service: CloudService.nullish()
    .transform((service) => service ?? null)
    .catch(null),
  password: Password,
});

export const ReversePrivateEndpoint = z.looseObject({
  id: MaybeText,
  serviceId: MaybeText,
  endpointId: MaybeText,
  description: MaybeText,
  type: MaybeText,
  vpcEndpointServiceName: MaybeText,
  vpcResourceConfigurationId: MaybeText,
  vpcResourceShareArn: MaybeText,
  streamClusterArn: MaybeText,
  streamAuthentication: MaybeText,
  dnsNames: MaybeTexts,
  privateDnsNames: MaybeTexts,
  status: MaybeText,
});

/** A setting that the server did not send, or not as such a value, is absent: only null is not set. */
const Setting = z.union([SentNumber, z.boolean(), z.null()]).optional().catch(undefined);

/** Milliseconds and bytes as the names say; servers may send further settings. */
export const PipeSettings = z.looseObject({
  streaming_max_insert_wait_ms: Setting,
  object_storage_concurrency: Setting,
  object_storage_polling_interval_ms: Setting,
  object_storage_max_insert_bytes: Setting,
  object_storage_max_file_count: Setting,
  engine_max_threads: Setting,
  engine_max_insert_threads: Setting,
  engine_min_insert_block_size_bytes: Setting,
  engine_max_download_threads: Setting,
  engine_parallel_distributed_insert_select: Setting,
  object_storage_use_cluster_function: Setting,
  engine_parallel_view_processing: Setting,
});

/** Size and duration of an unfinished backup are those reached so far. */
export const Backup = z.looseObject({
  id: MaybeText,
  serviceId: MaybeText,
  startedAt: MaybeText,
  finishedAt: MaybeText,
  sizeInBytes: MaybeNumber,
  durationInSeconds: MaybeNumber,
  backupName: MaybeText,
  /** A bucket of the customer; its fields depend on the cloud provider. */
  bucket: MaybeRecord,
  status: MaybeText,
  type: MaybeText,
});

export type CloudService = z.infer<typeof CloudService>;
export type CreatedService = z.infer<typeof CreatedService>;
export type ReversePrivateEndpoint = z.infer<typeof ReversePrivateEndpoint>;
export type PipeSettings = z.infer<typeof PipeSettings>;
export type Backup = z.infer<typeof Backup>;

const FINAL_STATUSES: readonly (string | null)[] = ['done', 'error'];

/** Some servers send no end of a finished backup, and none sends the end of a failed one. */
export function isFinished({ status, finishedAt }: Pick<Backup, 'status' | 'finishedAt'>): boolean {
  return finishedAt !== null || FINAL_STATUSES.includes(status);
}

/** The reported status; without one, derived from `finishedAt`. */
export function backupStatus({ status, finishedAt }: Backup): string {
  return status ?? (finishedAt === null ? 'not finished or unknown' : 'finished');
}

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

/**
 * The cost of one entity (warehouse, service or pipe) on one UTC day, in credits. `serviceId` is
 * null in the rows of a warehouse. A row that is not `locked` can still change.
 */
export type UsageCost = ReturnType<typeof readUsageCost>;

/**
 * Reads a row without a schema, which would block the event loop for about half a second for a
 * report of 62,000 rows. Other fields pass through.
 */
export function readUsageCost(given: Readonly<Record<string, unknown>>) {
  const row = Object.hasOwn(given, '__proto__') ? withoutPrototype(given) : given;
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

function withoutPrototype({ ['__proto__']: _, ...row }: Readonly<Record<string, unknown>>) {
  return row;
}

type Metrics = Record<string, number | null> & Record<(typeof API_METRICS)[number], number | null>;

// The type of fromEntries loses the names.
const NO_METRICS = Object.fromEntries(API_METRICS.map((name) => [name, null])) as Metrics;

/**
 * Null where a row has no value, which is not zero; NaN where the value is not a number. With the
 * metrics that the contract does not list, so that their costs keep their names.
 */
function readMetrics(value: unknown) {
  const source = isRecord(value) ? value : {};
  const metrics = { ...NO_METRICS };
  for (const name of Object.keys(source)) {
    // Setting `__proto__` would set the prototype.
    if (name !== '__proto__') metrics[name] = figureOrNaN(source[name]);
  }
  return metrics;
}

/** The contract describes one object; live servers send a list; both may be absent. */
const Costs = z
  .unknown()
  .optional()
  .transform((value, { issues }): UsageCost[] => {
    const rows = listOf(value);
    const costs = rows && usageRows(rows);
    if (costs) return costs;
    issues.push({ code: 'custom', input: value, message: 'must be a list of rows, or one row' });
    return z.NEVER;
  });

/** An empty place is a row without a day, so that the report counts it as left out. Null for a list with anything else. */
function usageRows(rows: readonly unknown[]): UsageCost[] | null {
  if (!rows.every((row) => row === null || isRecord(row))) return null;
  return rows.map((row) => readUsageCost(isRecord(row) ? row : {}));
}

const USAGE_FIELDS = Object.keys(readUsageCost({}));

function listOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  if (!isRecord(value)) return null;
  return USAGE_FIELDS.some((field) => field in value) ? [value] : [];
}

/** The reply of the usage report, in credits. `costs` is always a list. */
export const UsageCosts = z.looseObject({ grandTotalCredits: MaybeNumber, costs: Costs });

export type UsageCosts = z.infer<typeof UsageCosts>;
