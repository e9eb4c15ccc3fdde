import { canonical } from '../../base/text.ts';
import { HOUR_MS } from '../../base/time.ts';
import { type Change, type State, targetKey } from '../../domain/change.ts';
import { changesRequestedSince, openChangesOfTarget } from '../../log/old/change-lists.ts';
import type { Tx } from '../../storage/old/database.ts';

const SAME_WITHIN_MS = HOUR_MS;

/** The states of changes that had, or may still have, an effect. */
const EFFECTIVE: readonly State[] = ['pending', 'approved', 'executing', 'succeeded', 'unknown'];

/** Statements that read identical changes of the last hour, and other open changes of the target. */
export function readingRelatedChanges(tx: Tx, draft: Change) {
  const since = new Date(draft.createdAt.getTime() - SAME_WITHIN_MS);
  const recent = changesRequestedSince(tx, draft, since);
  const open = openChangesOfTarget(tx, targetKey(draft.plan.target));
  const changes = () => {
    const before = repetitions(recent.changes(), draft);
    const known = new Set([draft.id, ...before.map(({ id }) => id)]);
    const others = open.changes().filter(({ id, state }) => !known.has(id) && state !== 'draft');
    return { before, others };
  };
  return { statements: [recent, open], changes };
}

/** Identical changes since a different one succeeded: stop, start, stop is no repetition. */
function repetitions(recent: readonly Change[], draft: Change): readonly Change[] {
  const lastOther = recent.findLastIndex(
    (other) => other.state === 'succeeded' && !isSame(other, draft),
  );
  return recent.slice(lastOther + 1).filter((other) => isSame(other, draft));
}

function isSame(other: Change, draft: Change): boolean {
  const same = canonical(other.plan.body) === canonical(draft.plan.body);
  return same && other.command === draft.command && EFFECTIVE.includes(other.state);
}
