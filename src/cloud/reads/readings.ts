import { z } from 'zod';
import {
  EntryId,
  MaybeNumber,
  MaybeText,
  MaybeTexts,
  tolerant,
  tolerantList,
} from '../../base/http-rows.ts';

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

const Source = z.record(z.string(), z.unknown()).transform((families) => {
  const [family, details] = Object.entries(families).find(([, value]) => value !== null) ?? [];
  return { family: family ?? null, type: Type.parse(details) };
});
const Type = z
  .object({ type: MaybeText })
  .transform(({ type }) => type)
  .catch(null);

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
