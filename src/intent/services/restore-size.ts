import type { JsonObject } from '../../base/text.ts';
import type { Snapshot } from '../../domain/change.ts';

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
