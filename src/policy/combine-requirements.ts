import type { Requirement } from '../changes/change.ts';

/**
 * What a change and the one that takes it back ask for together, so that whoever approves the one
 * approves both; null where the two ask different people, of whom nobody could approve both.
 */
export function combineRequirements(there: Requirement, back: Requirement): Requirement | null {
  const breakGlass = there.breakGlass === back.breakGlass ? there.breakGlass : null;
  if (back.from === null) return { ...there, breakGlass };
  if (there.from === null) {
    const { from, count, self, escalation } = back;
    return { ...there, from, count, self, escalation, breakGlass };
  }
  if (there.from !== back.from) return null;
  return {
    ...there,
    count: Math.max(there.count, back.count),
    self: there.self && back.self,
    escalation: sameEscalation(there, back) ? there.escalation : null,
    breakGlass,
  };
}

function sameEscalation({ escalation: one }: Requirement, { escalation: other }: Requirement) {
  return one?.to === other?.to && one?.afterMs === other?.afterMs;
}
