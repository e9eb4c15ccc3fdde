import type { ChangeId } from '../../changes/change.ts';

/** Which are still to wait; the others are forgotten. Those that wait stand in nobody's way. */
export function stillBackingOff(later: Map<ChangeId, number>, now: number): readonly ChangeId[] {
  for (const [id, at] of later) if (at <= now) later.delete(id);
  return [...later.keys()];
}
