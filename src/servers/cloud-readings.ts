import { z } from 'zod';
import {
  EntryId,
  MaybeNumber,
  MaybeSwitch,
  MaybeText,
  MaybeTexts,
  tolerant,
  tolerantList,
} from '../base/http-rows.ts';
import { CloudService } from './cloud-replies.ts';

// Only these fields leave the client. The others hold addresses, roles, credentials or personal data.

/** Times as ISO 8601. Size and duration of an unfinished backup are those reached so far. */
const BackupReading = z.object({
  id: EntryId,
  status: MaybeText,
  type: MaybeText,
  startedAt: MaybeText,
  finishedAt: MaybeText,
  sizeInBytes: MaybeNumber,
  durationInSeconds: MaybeNumber,
});
export type BackupReading = z.infer<typeof BackupReading>;
export const BackupReadings = tolerantList(BackupReading);

export const EndpointReading = z.object({
  id: EntryId,
  description: MaybeText,
  type: MaybeText,
  /** The id in the network of the customer; empty at first. */
  endpointId: MaybeText,
  status: MaybeText,
  dnsNames: MaybeTexts,
  privateDnsNames: MaybeTexts,
});
export type EndpointReading = z.infer<typeof EndpointReading>;
export const EndpointReadings = tolerantList(EndpointReading);

const Type = z
  .object({ type: MaybeText })
  .transform(({ type }) => type)
  .catch(null);

const Source = z.record(z.string(), z.unknown()).transform((families) => {
  const [family, details] = Object.entries(families).find(([, value]) => value !== null) ?? [];
  return { family: family ?? null, type: Type.parse(details) };
});

/** `source.family` is the kind of source, for example streaming; `source.type` its product. */
const PipeReading = z.object({
  id: EntryId,
  name: MaybeText,
  state: MaybeText,
  source: tolerant(Source),
});
export type PipeReading = z.infer<typeof PipeReading>;
export const PipeReadings = tolerantList(PipeReading);

/** One entry of the audit log. `actorDetails` names a person: show it to operators only. */
const ActivityReading = z.object({
  id: EntryId,
  createdAt: MaybeText,
  type: MaybeText,
  actorType: MaybeText,
  actorDetails: MaybeText,
  actorId: MaybeText,
  serviceId: MaybeText,
});

/** Newest first. `isOwnKey`: the entry is about a request with the key of Signalbox. */
export function activityReadings(keyId: string) {
  return tolerantList(ActivityReading).transform((entries) =>
    entries
      .map(({ actorId, ...entry }) => ({ ...entry, isOwnKey: actorId === keyId }))
      .toSorted((a, b) => timeOf(b) - timeOf(a)),
  );
}
export type ActivityReading = Omit<z.infer<typeof ActivityReading>, 'actorId'> & {
  readonly isOwnKey: boolean;
};

function timeOf({ createdAt }: Pick<ActivityReading, 'createdAt'>): number {
  return Date.parse(createdAt ?? '') || 0;
}

/** The organizations that the key belongs to: one. */
export const OrganizationReadings = tolerantList(z.object({ id: EntryId, name: MaybeText }));

const Role = z.object({ roleName: MaybeText });

/** The key of Signalbox: its roles by name, and when it expires; null: never, or unknown. */
export const KeyReading = z
  .object({ name: MaybeText, expireAt: MaybeText, assignedRoles: tolerant(z.array(Role)) })
  .transform(({ assignedRoles, ...key }) => ({
    ...key,
    roles: (assignedRoles ?? []).flatMap(({ roleName }) => roleName ?? []),
  }));
export type KeyReading = z.infer<typeof KeyReading>;

const Sizes = z.object({
  minReplicaMemoryGb: MaybeNumber,
  maxReplicaMemoryGb: MaybeNumber,
  minReplicas: MaybeNumber,
  maxReplicas: MaybeNumber,
  idleScaling: MaybeSwitch,
  idleTimeoutMinutes: MaybeNumber,
});

const Entry = Sizes.extend({
  id: MaybeText,
  name: MaybeText,
  /** 0 is Sunday. */
  weekdays: tolerant(z.array(z.int().min(0).max(6))),
  /** UTC; the end is exclusive. An entry that ends before it starts lasts over midnight. */
  startHourUtc: MaybeNumber,
  endHourUtc: MaybeNumber,
  autoscalingMode: MaybeText,
  isActiveNow: MaybeSwitch,
});

/** Sizes of a service by the time of the week. `baseConfig` applies while no entry is active. */
export const ScalingSchedule = z.object({
  entries: tolerantList(Entry),
  baseConfig: tolerant(Sizes),
  activeEntryId: MaybeText,
});

export type ScalingSchedule = z.infer<typeof ScalingSchedule>;

/** A size in one generation of fields; null for a value that the server did not send. */
interface ServiceSize {
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
  encryptionKey: null,
  encryptionAssumedRoleIdentifier: null,
  encryptionRoleId: null,
  transparentDataEncryptionKeyId: null,
} as const;

/** How a service is reached, and as whom it reaches others: only private answers about one service show it. */
export const PRIVATE = {
  endpoints: null,
  ipAccessList: null,
  iamRole: null,
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
 * What is `PRIVATE` is for private answers only.
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

/** In a list, without what is private. */
export const ServiceReadings = tolerantList(
  ServiceReading.transform((service) => ({ ...service, ...PRIVATE })),
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
