import type { Json, JsonObject } from '../base/text.ts';
import type { Plan, Snapshot, StateDifference } from '../domain/change.ts';
import {
  classOf,
  memoryText,
  replicasText,
  type Service,
  type StateClass,
} from '../domain/targets.ts';
import type { ServiceReading } from '../servers/cloud-readings.ts';
import { serviceSnapshot } from '../servers/facts.ts';
import type { OptionalRead } from '../servers/optional-reads.ts';
import type { CommandContext, CurrentState, TargetObservation } from './define.ts';

/** Returns what a change depends on and what differs now from the previewed fields. */
type Compare = (before: JsonObject, now: JsonObject, body: JsonObject) => Comparison;

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
  const read = await reads.cloud.service(target.id, { fresh: true, waiting: true });
  if (!read.known) return { kind: 'unread', why: read.why, isOff: read.gap === 'off' };
  const { fields } = serviceSnapshot(read.value, read.readAt);
  const { differences, missing } = compare(before.fields, fields, body);
  if (differences.length > 0) return { kind: 'differs', differences };
  if (missing.length === 0) return { kind: 'same' };
  return { kind: 'unread', why: `the reply has no ${missing.join(', ')}`, isOff: false };
}

/** The states in which a command has no effect or is rejected. */
const BLOCKING: Readonly<Record<'start' | 'stop', readonly StateClass[]>> = {
  start: ['up', 'failed', 'gone'],
  stop: ['down', 'failed', 'gone'],
};

/**
 * A state differs if the command had an effect in the previewed state and has none now. Other
 * changes, for example from running to idle, do not matter.
 */
export function compareState(command: 'start' | 'stop'): Compare {
  return ({ state: previewed }, { state: now = null }) => {
    const [then, current] = [classOf(previewed), classOf(now)];
    if (then !== null && now === null) return { differences: [], missing: ['state'] };
    const isBlocked = current !== null && BLOCKING[command].includes(current);
    if (then === null || then === current || !isBlocked) return SAME;
    const difference = { label: 'State', was: String(previewed), is: String(now) };
    return { differences: [difference], missing: [] };
  };
}

const SAME: Comparison = { differences: [], missing: [] };

interface SizePart {
  readonly label: string;
  readonly fields: readonly string[];
  readonly text: (fields: JsonObject) => string | null;
}

const MEMORY: SizePart = {
  label: 'Memory per replica',
  fields: ['minReplicaMemoryGb', 'maxReplicaMemoryGb'],
  text: memoryText,
};
const REPLICAS: SizePart = {
  label: 'Replicas',
  fields: ['numReplicas', 'minReplicas', 'maxReplicas'],
  text: replicasText,
};
const MODE: SizePart = {
  label: 'Scaling of replicas',
  fields: ['autoscalingMode'],
  text: ({ autoscalingMode }) => String(autoscalingMode ?? 'unknown'),
};
// Servers omit the timeout while a service does not scale to zero, so that it is never missing.
const IDLING: SizePart = {
  label: 'Scale to zero when idle',
  fields: ['idleScaling', 'idleTimeoutMinutes'],
  text: ({ idleScaling, idleTimeoutMinutes: minutes }) =>
    idleScaling === true ? `after ${minutes ?? '?'} min` : 'off',
};

/**
 * The requested size differs from the previewed one in a part that the request overwrites: a single
 * bound also depends on the other one. What a schedule applies does not matter.
 */
export const compareSizes: Compare = (before, now, body) => {
  const own = [MEMORY, REPLICAS, IDLING].filter(({ fields }) =>
    fields.some((field) => body[field] !== undefined),
  );
  const parts = own.some((part) => part !== IDLING) ? [...own, MODE] : own;
  const differences = parts
    .filter(({ fields }) => fields.some((field) => isOther(before[field], now[field])))
    .map(({ label, text }) => ({ label, was: text(before) ?? '?', is: text(now) ?? '?' }));
  const missing = parts
    .filter(({ fields }) => fields.some((field) => isMissing(field, before, now)))
    .map(({ label }) => label.toLowerCase());
  return { differences, missing };
};

/** Both are known and differ. */
function isOther(before: Json = null, now: Json = null): boolean {
  return before !== null && now !== null && before !== now;
}

function isMissing(field: string, before: JsonObject, now: JsonObject): boolean {
  if (field === 'idleTimeoutMinutes') return false;
  return (before[field] ?? null) !== null && (now[field] ?? null) === null;
}

/** What a command needs to know beyond the service itself. */
interface Interest {
  /** The other services of its warehouse, if it is the primary one. */
  readonly secondaries?: true;
  /** The entry of the scaling schedule that is active now. */
  readonly schedule?: true;
}

/** Read again for each preview, by a person who waits for it. */
const NOW = { fresh: true, waiting: true } as const;

/**
 * Reads a service for a preview, where the server and the configuration allow it; otherwise returns
 * what was last seen. Never throws for a failed read: the preview says what is unknown.
 */
export async function observeService(
  { id, lastSeen }: Service,
  context: Pick<CommandContext, 'reads' | 'now'>,
  interest: Interest = {},
): Promise<TargetObservation> {
  const read = await context.reads.cloud.service(id, NOW);
  if (!read.known) return { before: lastSeen, gaps: gapsOf('Current state', read) };
  const [secondaries, schedule] = await Promise.all([
    interest.secondaries ? secondariesOf(read.value, context) : NOTHING,
    interest.schedule ? scheduleOf(read.value, context) : NOTHING,
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
  { reads }: Pick<CommandContext, 'reads'>,
): Promise<Part> {
  if (isPrimary !== true) return NOTHING;
  const listed = await reads.cloud.services(NOW);
  if (!listed.known) return { fields: {}, gaps: gapsOf('Secondaries of its warehouse', listed) };
  if (dataWarehouseId === null) return NOTHING;
  const others = listed.value.filter(
    (other) =>
      other.dataWarehouseId === dataWarehouseId &&
      other.id !== id &&
      classOf(other.state) !== 'gone',
  );
  const named = (isUp: boolean) =>
    others
      .filter(({ state }) => (classOf(state) === 'up') === isUp)
      .map(({ name, id: own }) => name ?? own.slice(0, 8));
  return { fields: { runningSecondaries: named(true), otherSecondaries: named(false) }, gaps: [] };
}

/** Older servers do not send the schedule with the service. */
async function scheduleOf(
  service: ServiceReading,
  { reads }: Pick<CommandContext, 'reads'>,
): Promise<Part> {
  const isEmbedded = service.currentScaling !== null || service.scalingSchedule !== null;
  const read = isEmbedded ? null : await reads.cloud.schedule(service.id, { waiting: true });
  if (read && !read.known) return { fields: {}, gaps: gapsOf('Scaling schedule', read) };
  const schedule = service.scalingSchedule ?? read?.value ?? null;
  const id = service.currentScaling?.activeEntryId ?? schedule?.activeEntryId ?? null;
  if (id === null) return NOTHING;
  const entry = schedule?.entries.find((one) => one.id === id);
  const until = entry?.endHourUtc ?? null;
  const name = entry?.name?.slice(0, LONGEST_NAME) || id.slice(0, 8);
  return { fields: { scheduleEntry: name, scheduleUntil: until }, gaps: [] };
}

const LONGEST_NAME = 60;

const WORDS = {
  minReplicaMemoryGb: 'min',
  maxReplicaMemoryGb: 'max',
  numReplicas: 'replicas',
  idleScaling: 'idle',
  idleTimeoutMinutes: 'idle-timeout',
} as const;

type SizeField = keyof typeof WORDS;

/** The words of a scale command that restores the sizes before a change, or why none can. */
type Restoration =
  | { readonly ok: true; readonly words: readonly string[] }
  | { readonly ok: false; readonly why: string };

/**
 * Restores only the fields that the change sends, and that the contract can send again. A service
 * that did not scale to zero had no idle timeout to restore.
 */
export function restoreSize(before: Snapshot | null, body: JsonObject): Restoration {
  const fields = fieldsToRestore(before, body);
  const missing = fields.filter((field) => (before?.fields[field] ?? null) === null);
  if (missing.length > 0 || fields.length === 0) return { ok: false, why: whyNot(before, missing) };
  return { ok: true, words: fields.map((field) => wordOf(field, before)) };
}

function fieldsToRestore(before: Snapshot | null, body: JsonObject): readonly SizeField[] {
  // The keys of WORDS.
  const sent = (Object.keys(WORDS) as SizeField[]).filter((field) => body[field] !== undefined);
  const { idleScaling, idleTimeoutMinutes } = before?.fields ?? {};
  const wasOff = idleScaling === false && sent.includes('idleScaling');
  if (wasOff) return sent.filter((field) => field !== 'idleTimeoutMinutes');
  // A server forgets the timeout when scaling to zero is switched off.
  const losesTimeout =
    before?.wasRead && body.idleScaling === false && typeof idleTimeoutMinutes === 'number';
  return losesTimeout && !sent.includes('idleTimeoutMinutes')
    ? [...sent, 'idleTimeoutMinutes']
    : sent;
}

function wordOf(field: SizeField, before: Snapshot | null): string {
  const value = before?.fields[field];
  return `${WORDS[field]}=${typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)}`;
}

function whyNot(before: Snapshot | null, missing: readonly SizeField[]): string {
  const { autoscalingMode, approximate } = before?.fields ?? {};
  if (missing.includes('numReplicas') && autoscalingMode === 'horizontal') {
    return 'the number of replicas varied before, and this API cannot request a range of replicas';
  }
  const hasMemory = missing.some((field) => field.endsWith('MemoryGb'));
  if (hasMemory && approximate !== undefined) {
    return 'the server returns total memory only, so the exact memory per replica is not known';
  }
  return `the server did not return the previous value of ${missing.map((field) => WORDS[field]).join(', ')}`;
}
