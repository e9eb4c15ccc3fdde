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

const Entry = z.object({
  id: MaybeText,
  name: MaybeText,
  /** 0 is Sunday. */
  weekdays: tolerant(z.array(z.int().min(0).max(6))),
  /** UTC; the end is exclusive. An entry that ends before it starts lasts over midnight. */
  startHourUtc: MaybeNumber,
  endHourUtc: MaybeNumber,
  minReplicaMemoryGb: MaybeNumber,
  maxReplicaMemoryGb: MaybeNumber,
  minReplicas: MaybeNumber,
  maxReplicas: MaybeNumber,
  isActiveNow: MaybeSwitch,
});

/** Sizes of a service by the time of the week. */
export const ScalingSchedule = z.object({
  entries: tolerantList(Entry),
  activeEntryId: MaybeText,
});

export type ScalingSchedule = z.infer<typeof ScalingSchedule>;

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
 * A service as a live server shows it now. `baseline` is the requested memory, and
 * `currentScaling` what applies now: they differ while a change is applied or an entry of the schedule is active.
 * What is `PRIVATE` is for private answers only.
 */
export const ServiceReading = Known.transform((service) => ({
  ...service,
  ...HIDDEN,
  endpoints:
    service.endpoints?.map(({ protocol, host, port }) => ({ protocol, host, port })) ?? null,
  baseline: baselineOf(service),
}));
export type ServiceReading = z.infer<typeof ServiceReading>;

/** In a list, without what is private. */
export const ServiceReadings = tolerantList(
  ServiceReading.transform((service) => ({ ...service, ...PRIVATE })),
);

type KnownService = z.infer<typeof Known>;

const ASSUMED_REPLICAS = 3;

/** Gigabytes per replica, in the first generation of fields that is present. Generations are never mixed. */
function baselineOf(service: KnownService) {
  const { autoscalingMode, minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas } = service;
  const { replicaMemoryGb, minTotalMemoryGb, maxTotalMemoryGb } = service;
  const size = (minMemoryGb: number | null, maxMemoryGb: number | null, isApproximate = false) => {
    return { minMemoryGb, maxMemoryGb, isApproximate };
  };
  if (autoscalingMode === 'horizontal' && replicaMemoryGb !== null)
    return size(replicaMemoryGb, replicaMemoryGb);
  const perReplica = [minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas];
  if (perReplica.some((value) => value !== null))
    return size(minReplicaMemoryGb, maxReplicaMemoryGb);
  if (minTotalMemoryGb === null && maxTotalMemoryGb === null) return null;
  const share = (total: number | null) => (total === null ? null : total / ASSUMED_REPLICAS);
  return size(share(minTotalMemoryGb), share(maxTotalMemoryGb), true);
}
