import type { Change, EvidenceGap, JsonObject } from '../../changes/change.ts';
import type { Progress, SettledRule } from '../../intent/settled.ts';

/** What was gathered about a request without an answer, after its outcome was recorded. */
export interface EvidenceFacts {
  readonly progress: Progress;
  /** Whether another change of the target was sent since the values before were read. */
  readonly hasOtherSent: boolean;
}

/** The values that were read before the send; null: none were, so nothing can be compared. */
export function readBefore({ plan }: Pick<Change, 'plan'>) {
  const { before } = plan;
  return before?.wasRead ? before : null;
}

/**
 * Why a reading does not prove that an unanswered request was applied; null: it does. The target
 * shows exactly what was requested, did not before the send, and nothing else was sent since.
 * A reading never proves that a request was not applied.
 */
export function evidenceGap(
  { plan }: Pick<Change, 'plan'>,
  rule: SettledRule,
  { progress, hasOtherSent }: EvidenceFacts,
): EvidenceGap | null {
  if (!rule.wasOpen) return 'creation';
  if (progress.is !== 'settled') return 'not-as-requested';
  const before = readBefore({ plan });
  const wasOpen = before && rule.wasOpen(fieldsOf(before), plan.body);
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
