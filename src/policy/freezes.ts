import type { Target } from '../changes/change.ts';
import { TARGET_TRAITS } from '../changes/target-kinds.ts';
import { selects } from './matching.ts';
import type { Freeze, Policy } from './policy-types.ts';

const SOON_MS = 7 * 86_400_000;

/** Returns the active freeze with the latest end, so that users read when the last one ends. */
export function freezeFor(
  freezes: readonly Freeze[],
  target: Target | null,
  now: Date,
): Freeze | null {
  const active = covering(freezes, target)
    .filter(({ from, until }) => from <= now && now < until)
    .sort((a, b) => b.until.getTime() - a.until.getTime());
  return active[0] ?? null;
}

/** Returns the freezes of a target that are active or begin within a week, the first start first. */
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

// An unknown target is frozen if any target that it may be is frozen. Freezes themselves are exempt,
// so that users can always lift them.
function covering(freezes: readonly Freeze[], target: Target | null): readonly Freeze[] {
  if (target && !TARGET_TRAITS[target.kind].canBeFrozen) return [];
  return freezes.filter(({ on }) => selects(on, target) !== false);
}

/** Returns the policy with the freezes that were created in Slack. */
export function withFreezes(policy: Policy, more: readonly Freeze[]): Policy {
  return { ...policy, freezes: [...policy.freezes, ...more] };
}
