import type { Change, ChangeId, Position } from '../../domain/change.ts';
import { freezeFor } from '../../domain/policy.ts';
import { loadChange } from '../../log/old/changes.ts';
import { enqueue } from '../../storage/old/outbox.ts';
import { currentPolicy } from './current-policy.ts';
import { currentTarget } from './current-target.ts';
import { isUnchangedSince } from './inverse.ts';
import type { PostAttempt } from './messenger-port.ts';
import type { WorkflowContext } from './ports.ts';

/**
 * The message that offers a revert which a freeze blocked, once the freeze has ended. The revert
 * never runs by itself later: users do not expect it at another time.
 */
export function unfreezeMessages(before: Change, { id, parent, state, frozenBy }: Change) {
  if (before.state === state || state !== 'denied' || !parent || !frozenBy) return [];
  return [{ changeId: id, kind: 'unfreeze-offer', at: frozenBy.until } as const];
}

/** Posts the offer. It waits for other freezes, and is skipped where the target changed since. */
export async function offerRevert(
  context: WorkflowContext,
  change: Change,
  at: Position,
  attempt: PostAttempt,
): Promise<void> {
  const { db } = context.database;
  const { freezes } = await currentPolicy(db, context);
  const freeze = freezeFor(freezes, currentTarget(context, change.plan), context.now());
  if (freeze) return offerAt(context, change.id, freeze.until);
  const parent = change.parent && (await loadChange(db, change.parent));
  if (parent && (await isUnchangedSince(context, parent)))
    await context.messenger.postUnfreezeOffer(change, at, attempt);
}

async function offerAt({ database }: WorkflowContext, changeId: ChangeId, at: Date): Promise<void> {
  await database.transaction((tx) => enqueue(tx, { changeId, kind: 'unfreeze-offer', at }));
}
