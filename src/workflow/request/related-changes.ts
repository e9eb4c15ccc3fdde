import { type Change, type State, targetKey } from '../../changes/change.ts';
import { canonical } from '../../changes/plan-digest.ts';
import type { Tx } from '../../storage/engine/database.ts';
import {
  changesRequestedSince,
  openChangesOfTarget,
} from '../../storage/tables/changes/change-lists.ts';

const SAME_WITHIN_MS = 3_600_000;

/** Which had an effect, or may have one yet. */
const MAY_COUNT: readonly State[] = ['pending', 'approved', 'executing', 'succeeded', 'unknown'];

/** What a new draft should be seen with: the same asked for lately, and others of its target. */
export async function relatedChangesOf(tx: Tx, draft: Change) {
  const since = new Date(draft.createdAt.getTime() - SAME_WITHIN_MS);
  const before = repeated(await changesRequestedSince(tx, draft, since), draft);
  const open = await openChangesOfTarget(tx, targetKey(draft.plan.target));
  const known = new Set([draft.id, ...before.map(({ id }) => id)]);
  return { before, others: open.filter(({ id, state }) => !known.has(id) && state !== 'draft') };
}

/** Those after whatever else has moved the target: a stop, a start, a stop is no repetition. */
function repeated(lately: readonly Change[], draft: Change): readonly Change[] {
  const moved = lately.findLastIndex(
    (other) => other.state === 'succeeded' && !isSame(other, draft),
  );
  return lately.slice(moved + 1).filter((other) => isSame(other, draft));
}

function isSame(other: Change, draft: Change): boolean {
  const same = canonical(other.plan.body) === canonical(draft.plan.body);
  return same && other.command === draft.command && MAY_COUNT.includes(other.state);
}
