import type { JsonObject } from '../../base/text.ts';
import type { Progress, SettledRule } from '../../commands/index.ts';
import type { Change, EvidenceGap } from '../../domain/change.ts';

/** What was gathered about a request without an answer, after its outcome was recorded. */
export interface EvidenceFacts {
  readonly progress: Progress;
  /** Whether another change of the target was sent since the values before were read. */
  readonly hasOtherSent: boolean;
}

/**
 * The values that were read for the preview and again right before the send; null if one of these
 * reads is missing, so that nothing can be compared.
 */
export function readBefore({ plan, stateCheck }: Pick<Change, 'plan' | 'stateCheck'>) {
  const { before } = plan;
  return before?.wasRead && stateCheck?.kind !== 'unverified' ? before : null;
}

/**
 * Why a reading does not prove that an unanswered request was applied; null: it does. The target
 * shows exactly what was requested, did not before the send, and nothing else was sent since.
 * A reading never proves that a request was not applied.
 */
export function evidenceGap(
  change: Pick<Change, 'plan' | 'stateCheck'>,
  rule: SettledRule,
  { progress, hasOtherSent }: EvidenceFacts,
): EvidenceGap | null {
  if (!rule.wasOpen) return 'creation';
  const before = readBefore(change);
  const wasOpen = before && rule.wasOpen(fieldsOf(before), change.plan.body);
  if (progress.is !== 'settled') {
    return progress.hasBegun && wasOpen ? 'under-way' : 'not-as-requested';
  }
  if (wasOpen === null) return 'before-unknown';
  if (!wasOpen) return 'was-so-before';
  return hasOtherSent ? 'changed-since' : null;
}

function fieldsOf({
  fields,
  volatileFields,
}: NonNullable<ReturnType<typeof readBefore>>): JsonObject {
  return { ...volatileFields, ...fields };
}
