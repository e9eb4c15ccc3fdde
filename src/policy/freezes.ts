import type { Target } from '../changes/change.ts';
import { TARGET_TRAITS } from '../changes/target-kinds.ts';
import { selects } from './matching.ts';
import type { Freeze, Policy } from './policy-types.ts';

const SOON_MS = 7 * 86_400_000;

/** The freeze that holds longest, so that nobody is told a date at which another one goes on. */
export function freezeFor(
  freezes: readonly Freeze[],
  target: Target | null,
  now: Date,
): Freeze | null {
  const holding = covering(freezes, target)
    .filter(({ from, until }) => from <= now && now < until)
    .sort((a, b) => b.until.getTime() - a.until.getTime());
  return holding[0] ?? null;
}

/** What holds over a target or begins within a week, the next first. */
export function upcomingFreezes(
  freezes: readonly Freeze[],
  target: Target | null,
  now: Date,
): readonly Freeze[] {
  const soon = new Date(now.getTime() + SOON_MS);
  return covering(freezes, target)
    .filter(({ from, until }) => from <= soon && now < until)
    .sort((a, b) => a.from.getTime() - b.from.getTime());
}

// An unknown target is frozen as long as anything is that it could be. A freeze is not: it would
// hold the one lever that lifts it.
function covering(freezes: readonly Freeze[], target: Target | null): readonly Freeze[] {
  if (target && !TARGET_TRAITS[target.kind].canBeFrozen) return [];
  return freezes.filter(({ on }) => selects(on, target) !== false);
}

/** The policy with freezes that were made since its file was read. */
export function withFreezes(policy: Policy, more: readonly Freeze[]): Policy {
  return { ...policy, freezes: [...policy.freezes, ...more] };
}
