import { z } from 'zod';
import { isRecord } from '../base/http-answer.ts';
import type { Json, JsonObject } from '../base/text.ts';
import type { Snapshot } from '../domain/change.ts';
import type { LearnedService } from '../domain/targets.ts';
import type { KnownServiceTable, StoreReader, StoreTx } from '../storage/index.ts';
import { PRIVATE, type ServiceReading } from './cloud-readings.ts';
import type { CloudService } from './cloud-replies.ts';

// What a reply says about a service, as users read it, and the store of what is known of services:
// this file has the SQL of its room.

/**
 * The scaling that the server applies now, under the names of the requested fields, with the name of
 * the schedule entry that causes a difference. Null if the reply has no applied values.
 * Source: docs/apis.md#services
 */
export function appliedScaling(service: CloudService): JsonObject | null {
  const { currentScaling: now } = service;
  if (now === null) return null;
  const { effectiveMinReplicas: least, effectiveMaxReplicas: most } = now;
  const values = {
    autoscalingMode: now.effectiveAutoscalingMode,
    minReplicaMemoryGb: now.effectiveMinReplicaMemoryGb,
    maxReplicaMemoryGb: now.effectiveMaxReplicaMemoryGb,
    // Old services have an unequal pair in vertical mode, which is no number of replicas.
    numReplicas: least === most ? least : null,
    minReplicas: least,
    maxReplicas: most,
    idleScaling: now.effectiveIdleScaling,
    idleTimeoutMinutes: now.effectiveIdleTimeoutMinutes,
  };
  return { ...withoutNull(values), scheduleEntry: activeEntry(service) };
}

const LONGEST_NAME = 60;

function activeEntry({ currentScaling, scalingSchedule }: CloudService): string | null {
  const id = currentScaling?.activeEntryId ?? null;
  if (id === null) return null;
  const { name } = scalingSchedule?.entries?.find((entry) => entry.id === id) ?? {};
  return typeof name === 'string' && name !== ''
    ? `“${name.slice(0, LONGEST_NAME)}”`
    : id.slice(0, 8);
}

/** The fields whose applied value differs from the given one; fields without both do not count. */
export function notApplied(
  fields: JsonObject,
  applied: JsonObject | null,
): readonly (readonly [field: string, applied: Json])[] {
  return Object.entries(applied ?? {}).filter(([field, now]) => {
    const wanted = fields[field];
    return wanted !== undefined && wanted !== null && String(wanted) !== String(now);
  });
}

const LONGEST_SETTING = 60;

/** The value of a field as users read it: `on` for true. */
export function settingText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value).slice(0, LONGEST_SETTING);
}

// The fields of a service that may be stored and shown: no keys, and no roles of the encryption.
const SHOWN = [
  'state',
  'provider',
  'region',
  'tier',
  'engineVersion',
  'minReplicaMemoryGb',
  'maxReplicaMemoryGb',
  'numReplicas',
  'autoscalingMode',
  'minReplicas',
  'maxReplicas',
  'replicaMemoryGb',
  'idleScaling',
  'idleTimeoutMinutes',
  'isPrimary',
  'isReadonly',
  'dataWarehouseId',
  'byocId',
  'hasTransparentDataEncryption',
  'releaseChannel',
  'createdAt',
  'iamRole',
  'privateEndpointIds',
  'availablePrivateEndpointIds',
] as const;

/** The known fields of a service, without those that the server did not send. */
export function serviceFacts(service: CloudService): JsonObject {
  const endpoints = (service.endpoints ?? []).flatMap(endpointText);
  return withoutNull({
    ...Object.fromEntries(SHOWN.map((key) => [key, service[key]])),
    applied: appliedScaling(service),
    endpoints: endpoints.length > 0 ? endpoints : null,
    ipAccessList: service.ipAccessList && accessTexts(service.ipAccessList),
  });
}

/** The same snapshot for cards and for the log, without what is private. */
export function publicSnapshot(snapshot: Snapshot): Snapshot {
  const shown = Object.entries(snapshot.fields).filter(([name]) => !(name in PRIVATE));
  return { ...snapshot, fields: Object.fromEntries(shown) };
}

/** `10.0.0.0/8 (office)`, for each entry of an access list. */
function accessTexts(entries: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return entries.map(({ source, description }) => {
    const about = typeof description === 'string' && description !== '' ? ` (${description})` : '';
    return `${typeof source === 'string' ? source : 'unknown'}${about}`;
  });
}

/** The protocol, the address and the user name of an endpoint in a reply. */
export function endpointText({ protocol, host, port, username }: Record<string, unknown>) {
  if (!isPlain(host)) return [];
  const address = isPlain(port) ? `${host}:${port}` : `${host}`;
  const words = [protocol, address, isPlain(username) && username !== '' && `as ${username}`];
  return [words.filter(Boolean).join(' ')];
}

export function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/**
 * A service that was read now, as a snapshot without addresses. Servers with a range of replicas may
 * send one memory size instead of two bounds, and older ones totals, from which no bound is exact.
 */
export function serviceSnapshot(service: ServiceReading, readAt: Date): Snapshot {
  const { baseline } = service;
  const bounds = withoutNull({
    minReplicaMemoryGb: baseline?.minMemoryGb ?? null,
    maxReplicaMemoryGb: baseline?.maxMemoryGb ?? null,
  });
  const extra = baseline?.isApproximate ? { approximate: bounds } : bounds;
  const fields = { ...extra, ...serviceFacts({ ...service, ...PRIVATE }) };
  return { fields, seenAt: readAt, source: 'read from the server', wasRead: true };
}

/** A service that was read now, as what is known of it from then on. */
export function learnedReading(
  service: ServiceReading,
  { name, organizationId }: Pick<LearnedService, 'name' | 'organizationId'>,
  readAt: Date,
): LearnedService {
  const { id } = service;
  const { fields: size, source } = serviceSnapshot(service, readAt);
  const fields = { ...size, ...serviceFacts(service) };
  return { id, organizationId, name, fields, source, seenAt: readAt };
}

function withoutNull(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/** `seenAt` and `source` are those of the newest facts; other fields may be older. */
interface DirectoryEntry extends LearnedService {
  /** In milliseconds since 1970. */
  readonly fieldSeenAt: Readonly<Record<string, number>>;
}

/**
 * Replies may be stored out of order, so that each field keeps its newest value. The outcome of a change waits for the
 * row of its service, so that a list of any length takes a few statements.
 */
export async function learnServices(tx: StoreTx, all: readonly LearnedService[]): Promise<void> {
  // In one order: two replicas that learn at once wait for each other's rows.
  const services = [...Map.groupBy(all, ({ id }) => id)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (let from = 0; from < services.length; from += AT_ONCE) {
    const learned = new Map(services.slice(from, from + AT_ONCE));
    const first = [...learned.values()].flatMap(([one]) => (one ? [rowOf(one)] : []));
    // Locks the rows.
    const rows = await tx
      .insertInto('known_service')
      .values(first)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((eb) => ({ id: eb.ref('known_service.id') })),
      )
      .returningAll()
      .execute();
    const next = rows.map((row) => (learned.get(row.id) ?? []).reduce(merged, row));
    await tx
      .deleteFrom('known_service')
      .where('id', 'in', [...learned.keys()])
      .execute();
    await tx.insertInto('known_service').values(next).execute();
  }
}

const AT_ONCE = 1_000;

function rowOf(learned: LearnedService): KnownServiceTable {
  const { id, organizationId: organization, name, fields, source, seenAt } = learned;
  const at = seenAt.getTime();
  const times = Object.fromEntries(Object.keys(fields).map((field) => [field, at]));
  return {
    ...{ id, organization, name, named_at: at, source, seen_at: at },
    fields: JSON.stringify(fields),
    field_seen_at: JSON.stringify(times),
  };
}

function merged(row: KnownServiceTable, learned: LearnedService): KnownServiceTable {
  const next = rowOf(learned);
  const stored = readable(row);
  // Nothing of an unreadable row is kept, so that it does not stop what is stored with it.
  if (!stored) return next;
  const at = learned.seenAt.getTime();
  const newer = Object.entries(learned.fields).filter(
    ([field]) => (stored.fieldSeenAt[field] ?? at) <= at,
  );
  const times = newer.map(([field]) => [field, at]);
  const { id, organization, name, named_at } = row.named_at <= at ? next : row;
  const { source, seen_at } = isNewerReport(stored, learned) ? next : row;
  return {
    ...{ id, organization, name, named_at, source, seen_at },
    fields: JSON.stringify({ ...stored.fields, ...Object.fromEntries(newer) }),
    field_seen_at: JSON.stringify({ ...stored.fieldSeenAt, ...Object.fromEntries(times) }),
  };
}

// A source that only names a service must not make its facts look newer than they are.
function isNewerReport(stored: LearnedService, learned: LearnedService): boolean {
  const facts = [stored, learned].map(({ fields }) => Object.keys(fields).length > 0);
  return facts[0] === facts[1] ? learned.seenAt >= stored.seenAt : facts[1] === true;
}

/** Returns the services by name. The id of an unreadable row is passed to `onUnreadable`, and the row is left out. */
export async function knownServices(
  reader: StoreReader,
  onUnreadable?: OnUnreadableService,
): Promise<DirectoryEntry[]> {
  const query = reader.selectFrom('known_service').selectAll();
  const rows = await query.orderBy('name').orderBy('id').execute();
  return rows.flatMap((row) => readable(row, onUnreadable) ?? []);
}

type OnUnreadableService = (id: string, error: unknown) => void;

const Fields = z.custom<JsonObject>(isRecord);
const Times = z.record(z.string(), z.number());

function readable(
  row: KnownServiceTable,
  onUnreadable?: OnUnreadableService,
): DirectoryEntry | null {
  const { id, organization: organizationId, name, source } = row;
  try {
    const fields = Fields.parse(JSON.parse(row.fields));
    const fieldSeenAt = Times.parse(JSON.parse(row.field_seen_at));
    return { id, organizationId, name, source, seenAt: new Date(row.seen_at), fields, fieldSeenAt };
  } catch (error) {
    onUnreadable?.(id, error);
    return null;
  }
}
