import type { Json, JsonObject } from '../../base/text.ts';
import type { Plan, StateDifference } from '../../domain/change.ts';
import { classOf, memoryText, replicasText, type StateClass } from '../../domain/targets.ts';
import { serviceSnapshot } from '../../servers/facts.ts';
import type { CurrentState } from '../define.ts';
import type { CommandContext } from '../ports/command-context.ts';

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
