import type { Requirement } from '../changes/requirement.ts';

/**
 * Returns the requirement for a change together with its revert, so that one approval covers both.
 * Returns null if they need different approvers.
 */
export function combineRequirements(change: Requirement, revert: Requirement): Requirement | null {
  const breakGlass = change.breakGlass === revert.breakGlass ? change.breakGlass : null;
  if (revert.from === null) return { ...change, breakGlass };
  if (change.from === null) {
    const { from, count, self, escalation } = revert;
    return { ...change, from, count, self, escalation, breakGlass };
  }
  if (change.from !== revert.from) return null;
  return {
    ...change,
    count: Math.max(change.count, revert.count),
    self: change.self && revert.self,
    escalation: sameEscalation(change, revert) ? change.escalation : null,
    breakGlass,
  };
}

function sameEscalation({ escalation: one }: Requirement, { escalation: other }: Requirement) {
  return one?.to === other?.to && one?.afterMs === other?.afterMs;
}

/** Whether a change that meets the first requirement also meets the second one. */
export function coversRequirement(first: Requirement, second: Requirement): boolean {
  if (second.from === null) return true;
  return (
    first.from === second.from &&
    first.count >= second.count &&
    (second.self || !first.self) &&
    (first.escalation === null || sameEscalation(first, second))
  );
}
