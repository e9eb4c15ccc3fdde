import { z } from 'zod';
import { EntryId, MaybeText, tolerant, tolerantList } from '../../base/http-rows.ts';
import { CloudService } from '../replies.ts';
import { ScalingSchedule } from './schedule.ts';

/** A size in one generation of fields; null for a value that the server did not send. */
export interface ServiceSize {
  readonly mode: string | null;
  /** Gigabytes per replica. */
  readonly minMemoryGb: number | null;
  readonly maxMemoryGb: number | null;
  readonly minReplicas: number | null;
  readonly maxReplicas: number | null;
  /** True for a size that is computed from totals, which assume three replicas. */
  readonly isApproximate: boolean;
}

const Tag = z.object({ key: z.string(), value: MaybeText });

/** Fields that are never shown, logged or stored. */
const HIDDEN = {
  iamRole: null,
  encryptionKey: null,
  encryptionAssumedRoleIdentifier: null,
  encryptionRoleId: null,
  transparentDataEncryptionKeyId: null,
  privateEndpointIds: null,
  availablePrivateEndpointIds: null,
} as const;

const Known = z.object(CloudService.shape).extend({
  id: EntryId,
  tags: tolerant(z.array(Tag)),
  scalingSchedule: tolerant(ScalingSchedule),
});

/**
 * A service as a live server shows it now. `baseline` is the requested size, and `applied` the one
 * that applies now: they differ while a change is applied or an entry of the schedule is active.
 * Hosts and the access list are for private answers only.
 */
export const ServiceReading = Known.transform((service) => ({
  ...service,
  ...HIDDEN,
  endpoints:
    service.endpoints?.map(({ protocol, host, port }) => ({ protocol, host, port })) ?? null,
  baseline: baselineOf(service),
  applied: appliedOf(service),
}));
export type ServiceReading = z.infer<typeof ServiceReading>;

/** In a list, without the addresses from and at which each service is reached. */
export const ServiceReadings = tolerantList(
  ServiceReading.transform((service) => ({ ...service, endpoints: null, ipAccessList: null })),
);

type KnownService = z.infer<typeof Known>;

/** The size in the first generation of fields that is present. Generations are never mixed. */
function baselineOf(service: KnownService): ServiceSize | null {
  const { autoscalingMode: mode, minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas } = service;
  const { minReplicas, maxReplicas, replicaMemoryGb, minTotalMemoryGb, maxTotalMemoryGb } = service;
  const isHorizontal = mode === 'horizontal' && replicaMemoryGb !== null;
  return (
    (isHorizontal
      ? sizeOf(mode, [replicaMemoryGb, replicaMemoryGb, minReplicas, maxReplicas])
      : null) ??
    sizeOf(mode, [minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas, numReplicas]) ??
    approximate(mode, [minTotalMemoryGb, maxTotalMemoryGb])
  );
}

function appliedOf({ currentScaling: now }: KnownService): ServiceSize | null {
  if (now === null) return null;
  const { effectiveMinReplicaMemoryGb: min, effectiveMaxReplicaMemoryGb: max } = now;
  const { effectiveMinReplicas: least, effectiveMaxReplicas: most } = now;
  return sizeOf(now.effectiveAutoscalingMode, [min, max, least, most]);
}

type Values = readonly [
  minMemoryGb: number | null,
  maxMemoryGb: number | null,
  minReplicas: number | null,
  maxReplicas: number | null,
];

function sizeOf(mode: string | null, values: Values): ServiceSize | null {
  if (values.every((value) => value === null)) return null;
  const [minMemoryGb, maxMemoryGb, minReplicas, maxReplicas] = values;
  return { mode, minMemoryGb, maxMemoryGb, minReplicas, maxReplicas, isApproximate: false };
}

const ASSUMED_REPLICAS = 3;

function approximate(
  mode: string | null,
  [min, max]: readonly [number | null, number | null],
): ServiceSize | null {
  const perReplica = (total: number | null) => (total === null ? null : total / ASSUMED_REPLICAS);
  const size = sizeOf(mode, [perReplica(min), perReplica(max), null, null]);
  return size && { ...size, isApproximate: true };
}
