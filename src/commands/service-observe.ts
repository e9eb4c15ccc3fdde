import type { JsonObject } from '../base/text.ts';
import type { Plan, Snapshot, StateDifference } from '../domain/change.ts';
import { classOf, type Service } from '../domain/targets.ts';
import type { ScalingSchedule, ServiceReading } from '../servers/cloud-readings.ts';
import { publicSnapshot, serviceSnapshot } from '../servers/facts.ts';
import type { OptionalRead } from '../servers/optional-reads.ts';
import type { CommandContext, CurrentState, TargetObservation } from './define.ts';

/** What a command needs to know beyond the service itself. */
interface Interest {
  /** The other services of its warehouse, if it is the primary one. */
  readonly secondaries?: true;
  /** The entry of the scaling schedule that is active now. */
  readonly schedule?: true;
}

/** Never from a cache, for a person who waits. */
const NOW = { fresh: true, waiting: true } as const;

/**
 * Reads a service for a preview, where the server and the configuration allow it; otherwise returns
 * what was last seen. Never throws for a failed read: the preview says what is unknown.
 */
export async function observeService(
  { id, organizationId: organization, lastSeen }: Service,
  context: Pick<CommandContext, 'reads'>,
  interest: Interest = {},
): Promise<TargetObservation> {
  const read = await context.reads.cloud.service(id, NOW);
  if (!read.known) {
    return { before: lastSeen && publicSnapshot(lastSeen), gaps: gapsOf('Current state', read) };
  }
  const [secondaries, schedule] = await Promise.all([
    interest.secondaries ? secondariesOf(read.value, organization, context) : NOTHING,
    interest.schedule ? activeEntryOf(read, context) : NOTHING,
  ]);
  const snapshot = serviceSnapshot(read.value, read.readAt);
  const volatileFields = { ...secondaries.fields, ...schedule.fields };
  const before: Snapshot =
    Object.keys(volatileFields).length > 0 ? { ...snapshot, volatileFields } : snapshot;
  return { before, gaps: [...secondaries.gaps, ...schedule.gaps] };
}

interface Part {
  readonly fields: JsonObject;
  readonly gaps: readonly string[];
}

const NOTHING: Part = { fields: {}, gaps: [] };

function gapsOf(what: string, read: OptionalRead<unknown>): readonly string[] {
  return read.known || read.gap === 'off' ? [] : [`${what} unknown: ${read.why}`];
}

/** The names of the other services of the warehouse, those that run apart from the others. */
async function secondariesOf(
  { id, isPrimary, dataWarehouseId }: ServiceReading,
  organization: string,
  { reads }: Pick<CommandContext, 'reads'>,
): Promise<Part> {
  if (isPrimary !== true) return NOTHING;
  const listed = await reads.cloud.services({ ...NOW, organization });
  if (!listed.known) return { fields: {}, gaps: gapsOf('Secondaries of its warehouse', listed) };
  return { fields: secondaryFields({ id, dataWarehouseId }, listed.value), gaps: [] };
}

function secondaryFields(
  { id, dataWarehouseId }: Pick<ServiceReading, 'id' | 'dataWarehouseId'>,
  all: readonly ServiceReading[],
): JsonObject {
  if (dataWarehouseId === null) return {};
  const others = all.filter(
    (other) =>
      other.dataWarehouseId === dataWarehouseId &&
      other.id !== id &&
      classOf(other.state) !== 'gone',
  );
  const named = (isUp: boolean) =>
    others
      .filter(({ state }) => (classOf(state) === 'up') === isUp)
      .map(({ name, id: own }) => name ?? own.slice(0, 8));
  return { runningSecondaries: named(true), otherSecondaries: named(false) };
}

/** What one read of the list shows of each service, by its id; empty if the list is unknown. */
export async function listedSnapshots({
  reads,
}: Pick<CommandContext, 'reads'>): Promise<ReadonlyMap<string, Snapshot>> {
  const listed = await reads.cloud.services({ waiting: true });
  if (!listed.known) return new Map();
  const { value: all, readAt } = listed;
  return new Map(
    all.map((service) => {
      const volatileFields = service.isPrimary === true ? secondaryFields(service, all) : {};
      return [service.id, { ...serviceSnapshot(service, readAt), volatileFields }] as const;
    }),
  );
}

type KnownService = Extract<OptionalRead<ServiceReading>, { readonly known: true }>;

/** The scaling schedule; servers that report the applied size send it with the service. */
export async function readSchedule(
  service: KnownService,
  { reads }: Pick<CommandContext, 'reads'>,
): Promise<OptionalRead<ScalingSchedule | null>> {
  const { id, scalingSchedule, currentScaling } = service.value;
  return scalingSchedule !== null || currentScaling !== null
    ? { ...service, value: scalingSchedule }
    : reads.cloud.schedule(id, { waiting: true });
}

async function activeEntryOf(service: KnownService, context: Pick<CommandContext, 'reads'>) {
  const read = await readSchedule(service, context);
  if (!read.known) return { fields: {}, gaps: gapsOf('Scaling schedule', read) };
  const { entries = [], activeEntryId = null } = read.value ?? {};
  const begins = entries.slice(0, ENTRIES_MAX).flatMap(({ id, name, weekdays, startHourUtc }) => {
    const isTimed = weekdays !== null && startHourUtc !== null;
    return isTimed ? [{ name: entryName(id, name), weekdays, hour: startHourUtc }] : [];
  });
  const later: JsonObject = begins.length > 0 ? { scheduleBegins: begins } : {};
  const active = service.value.currentScaling?.activeEntryId ?? activeEntryId;
  if (active === null) return { fields: later, gaps: [] };
  const entry = entries.find(({ id }) => id === active);
  const name = entryName(active, entry?.name);
  const scheduleUntil = entry?.endHourUtc ?? null;
  return { fields: { scheduleEntry: name, scheduleUntil, ...later }, gaps: [] };
}

const ENTRIES_MAX = 10;
const LONGEST_NAME = 60;

function entryName(id: string | null, name: string | null = null): string {
  return name?.slice(0, LONGEST_NAME) || (id ?? '').slice(0, 8);
}

/** Returns what a change depends on and what differs now from the previewed fields. */
export type Compare = (before: JsonObject, now: JsonObject, body: JsonObject) => Comparison;

interface Comparison {
  readonly differences: readonly StateDifference[];
  /** Fields of the preview that the server does not send now. */
  readonly missing: readonly string[];
}

/**
 * Reads a service again right before a change of it is sent, and compares what the change depends on.
 * Null if its preview was made without a read. Source: docs/optional-reads.md#before-sending
 */
export async function compareService(
  { target, before, body }: Plan,
  { reads }: Pick<CommandContext, 'reads'>,
  compare: Compare,
): Promise<CurrentState | null> {
  if (!before?.wasRead) return null;
  const read = await reads.cloud.service(target.id, NOW);
  if (!read.known) return { kind: 'unread', why: read.why, isOff: read.gap === 'off' };
  const { fields } = serviceSnapshot(read.value, read.readAt);
  const { differences, missing } = compare(before.fields, fields, body);
  if (differences.length > 0) return { kind: 'differs', differences };
  if (missing.length === 0) return { kind: 'same' };
  return { kind: 'unread', why: `the reply has no ${missing.join(', ')}`, isOff: false };
}
